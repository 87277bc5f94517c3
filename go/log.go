package plimsoll

import (
	"context"
	"log/slog"
	"sync"

	"plimsoll.example/plimsoll/internal/capi"
)

// messages are what the library has to say of a cluster. It says so in the middle of a call, when
// little may be done; a logger hears of it after the call, when it may do anything.
type messages struct {
	logger  *slog.Logger
	mu      sync.Mutex
	waiting []said
}

type said struct {
	level slog.Level
	text  string
}

// listen has the library say what the logger wants to hear.
func (m *messages) listen(options *capi.Options) {
	if m.logger == nil {
		return
	}
	levels := map[uint32]slog.Level{
		capi.LogError: slog.LevelError, capi.LogWarning: slog.LevelWarn,
		capi.LogInfo: slog.LevelInfo, capi.LogDebug: slog.LevelDebug,
	}
	for level, own := range levels {
		if m.logger.Enabled(context.Background(), own) {
			options.LogLevel = max(options.LogLevel, level)
		}
	}
	if options.LogLevel == 0 {
		return
	}
	options.Log = func(level uint32, text string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waiting = append(m.waiting, said{levels[level], text})
	}
}

// deliver hands over what was said.
func (m *messages) deliver() {
	m.mu.Lock()
	waiting := m.waiting
	m.waiting = nil
	m.mu.Unlock()
	for _, message := range waiting {
		m.logger.Log(context.Background(), message.level, message.text)
	}
}
