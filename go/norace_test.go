//go:build !race

package plimsoll_test

const raceDetector = false
