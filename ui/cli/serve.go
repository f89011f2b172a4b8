package cli

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// ServeOptions are the flags of `coffer serve`.
type ServeOptions struct {
	Listen         string        // host:port; port 0 takes a free one
	Data           string        // data directory
	JSON           bool          // print one line of JSON once the port accepts
	Hosts          []string      // further host names of the certificate
	Fund           bool          // give test funds to new addresses
	Faults         []string      // what the service is asked to bring about
	Lifetime       time.Duration // of quotes
	CursorLifetime time.Duration // of continuations of history
	Metrics        string        // host:port of the metrics listener, "" for none
	BasePath       string
	LogJSON        bool
	LogLevel       slog.Level
}

// Bounds of the lifetimes. A quote cannot outlive the window of its prepared operation.
const (
	minLifetime       = time.Second
	maxLifetime       = 10 * time.Minute
	maxCursorLifetime = 24 * time.Hour
)

// words are the flags that stand for another value.
type words struct{ fund, format, level string }

func (p Program) serve() *cobra.Command {
	var o ServeOptions
	w := words{fund: "always", format: "text", level: "info"}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service for a team over HTTPS",
		Long: `Runs the service with its own chains, kept in the data directory. The certificate is signed by a certificate authority
that is kept there too; give its file to the wallets. Every service that this command runs is a lab: play money.
It stops cleanly on an interrupt or a termination signal.

Requests are admitted by the keys that ` + "`coffer serve keys`" + ` makes. While there is none, a key that is good for this process
only is printed.`,
		Example: `  coffer serve --listen 127.0.0.1:8443 --data ./lab
  coffer serve --listen 0.0.0.0:8443 --host wallet.example --json --log-format json --metrics 127.0.0.1:9464
  coffer serve --fault slow-fill=2s --fault revert@0.25`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settle(w); err != nil {
				return err
			}
			return p.Serve(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8443", "address and port; port 0 takes a free one")
	f.StringVar(&o.Data, "data", "", "data directory (default: below the user's data directory)")
	f.BoolVar(&o.JSON, "json", false, "print one line of JSON with address, CA file, key and network file once the port accepts")
	f.StringSliceVar(&o.Hosts, "host", nil, "further host names of the certificate")
	f.StringVar(&w.fund, "fund", w.fund, "test funds for addresses that are named the first time: always or never")
	f.StringArrayVar(&o.Faults, "fault", nil, p.faultUsage())
	f.DurationVar(&o.Lifetime, "lifetime", 30*time.Second, "how long a quote may be accepted, 1s to 10m")
	f.DurationVar(&o.CursorLifetime, "cursor-lifetime", 15*time.Minute, "how long a continuation of history stays good, 1s to 24h")
	f.StringVar(&o.Metrics, "metrics", "", "loopback address and port that answers with Prometheus metrics, such as 127.0.0.1:9464")
	f.StringVar(&o.BasePath, "base-path", "/api", "path in front of every endpoint")
	f.StringVar(&w.format, "log-format", w.format, "text or json")
	f.StringVar(&w.level, "log-level", w.level, "debug, info, warn or error")
	cmd.AddCommand(p.keys())
	return cmd
}

// faultUsage describes --fault with every fault there is.
func (p Program) faultUsage() string {
	usage := "bring about what seldom happens, as name[=value][@share]; may be given several times. A share is a part such as 0.25,\nor N for every N-th quote"
	if len(p.FaultHelp) > 0 {
		usage += ". Faults:\n  " + strings.Join(p.FaultHelp, "\n  ")
	}
	return usage + "\n"
}

// settle reads the words and checks what can be checked without the service.
func (o *ServeOptions) settle(w words) error {
	switch w.fund {
	case "always":
		o.Fund = true
	case "never":
	default:
		return &UsageError{Problem: "--fund takes always or never"}
	}
	switch w.format {
	case "json":
		o.LogJSON = true
	case "text":
	default:
		return &UsageError{Problem: "--log-format takes text or json"}
	}
	switch w.level {
	case "debug", "info", "warn", "error":
		if err := o.LogLevel.UnmarshalText([]byte(w.level)); err != nil {
			return err
		}
	default:
		return &UsageError{Problem: "--log-level takes debug, info, warn or error"}
	}
	if o.Lifetime < minLifetime || o.Lifetime > maxLifetime {
		return &UsageError{Problem: fmt.Sprintf("--lifetime takes %s to %s", minLifetime, maxLifetime)}
	}
	if o.CursorLifetime < minLifetime || o.CursorLifetime > maxCursorLifetime {
		return &UsageError{Problem: fmt.Sprintf("--cursor-lifetime takes %s to %s", minLifetime, maxCursorLifetime)}
	}
	if b := o.BasePath; len(b) < 2 || b[0] != '/' || strings.HasSuffix(b, "/") || strings.ContainsAny(b, " ?#%{}") || strings.Contains(b, "//") {
		return &UsageError{Problem: "--base-path takes a path such as /api: a slash in front, none at the end"}
	}
	return nil
}
