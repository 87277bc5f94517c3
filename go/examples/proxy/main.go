// Proxy is an HTTP reverse proxy with a Plimsoll cluster behind it:
//
//	go run -tags plimsoll_tree ./examples/proxy -cluster cluster.yaml -listen 127.0.0.1:8080 -admin 127.0.0.1:8081
//
// Requests go to the hosts of the cluster file, which is Envoy's. One that fails before it has an
// answer is tried again elsewhere, a host that cannot be reached is ejected for a while, load reports
// in responses are taken in, and sessions stay with their host if the file has a hash policy. The admin
// pages show what the balancer knows: /hosts, /localities, /loads, /stats and /explain.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"plimsoll.example/plimsoll"
)

func main() {
	file := flag.String("cluster", "", "the cluster, in Envoy's YAML or JSON")
	listen := flag.String("listen", "127.0.0.1:8080", "where requests come in")
	admin := flag.String("admin", "127.0.0.1:8081", "where the admin pages are")
	flag.Parse()
	if err := run(*file, *listen, *admin); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

func run(file, listen, admin string) error {
	config, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cluster, err := plimsoll.Open(string(config), &plimsoll.Options{Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer cluster.Close()

	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go cluster.Run(stopped, 0)
	go func() {
		if err := serve(stopped, admin, adminPages(cluster)); err != nil {
			slog.Error("no admin pages", "error", err)
		}
	}()
	return serve(stopped, listen, newProxy(cluster))
}

// serve answers requests until the context is done, and then those that are under way.
func serve(ctx context.Context, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	slog.Info("listening", "address", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Shutdown(limited)
	})
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}
