package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/settle"
	"coffer/config"
	"coffer/ui/cli"
)

// serve runs the service for a team until ctx ends.
func serve(ctx context.Context, o cli.ServeOptions, out, logs io.Writer) error {
	dir, err := dataDir(o.Data)
	if err != nil {
		return err
	}
	faults, err := settle.ParseFaults(o.Faults)
	if err != nil {
		return &cli.UsageError{Problem: err.Error(), Hint: "`coffer serve --help` lists the faults"}
	}
	log := newLog(logs, o)
	figures, err := newFigures(o.Metrics)
	if err != nil {
		return err
	}
	a, err := service.OpenOrAttach(ctx, dir, service.Options{
		Kind: network.Lab, Fund: o.Fund, Log: log, Lifetime: o.Lifetime, CursorLifetime: o.CursorLifetime, BasePath: o.BasePath, Faults: faults,
		StoredKeys: true, Metrics: figures.meter(),
	})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	if a.Attached() {
		return fmt.Errorf("another process runs the service in %s", dir)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	scraped, err := figures.listen(ctx, a.Service(), filepath.Join(dir, service.DatabaseFile), log)
	if err != nil {
		return err
	}
	running, err := a.Service().Serve(ctx, service.ServeOptions{Listen: o.Listen, Dir: dir, Host: o.Hosts})
	if err != nil {
		return err
	}
	if len(o.Faults) > 0 {
		log.Warn("FAULTS ARE ON: this service fails on purpose", "faults", o.Faults)
	}
	if err := announce(out, o, a, running, filepath.Join(dir, service.NetworkFile), scraped); err != nil {
		return err
	}
	return running.Wait()
}

// newLog writes what the service tells: text for people, JSON for machines. Neither ever holds a key.
func newLog(to io.Writer, o cli.ServeOptions) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.LogLevel}
	if o.LogJSON {
		return slog.New(slog.NewJSONHandler(to, options))
	}
	return slog.New(slog.NewTextHandler(to, options))
}

// announce prints how the service is reached. The key of this process is printed only while there is no stored one.
func announce(out io.Writer, o cli.ServeOptions, a *service.Attachment, r *service.Running, networkFile, metricsURL string) error {
	key := a.Service().APIKey()
	if o.JSON {
		line, err := api.Encode(struct {
			BaseURL     string   `json:"baseUrl"`
			CAFile      string   `json:"caFile"`
			APIKey      string   `json:"apiKey,omitzero"`
			NetworkFile string   `json:"networkFile"`
			MetricsURL  string   `json:"metricsUrl,omitzero"`
			Faults      []string `json:"faults,omitempty"`
		}{r.BaseURL, r.CAFile, key, networkFile, metricsURL, o.Faults})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", line.Raw())
		return err
	}
	lines := []string{
		"serving  " + r.BaseURL, "ca file  " + r.CAFile, "network  " + networkFile, "         " + a.Network.Fingerprint(),
	}
	if key != "" {
		lines = append(lines, "api key  "+key+" (good while this process runs; `coffer serve keys add` makes lasting ones)")
	} else {
		lines = append(lines, "api key  the stored ones (`coffer serve keys list`)")
	}
	if metricsURL != "" {
		lines = append(lines, "metrics  "+metricsURL)
	}
	if len(o.Faults) > 0 {
		lines = append(lines, "FAULTS   ON: this service fails on purpose: "+strings.Join(o.Faults, ", "))
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

func dataDir(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	paths, err := config.PathsFrom(os.Getenv)
	if err != nil {
		return "", err
	}
	return filepath.Abs(paths.ProfileData("serve"))
}

// keyCommands answers `coffer serve keys` out of a data directory, whether a service runs on it or not.
type keyCommands struct{}

// Add makes a key. Where no service ran yet, the directory is made; the one that starts there has the key.
func (keyCommands) Add(ctx context.Context, data string, r cli.KeyRequest) (given cli.GivenKey, err error) {
	spec := access.KeySpec{
		Company: r.Company, Project: r.Project, UseCase: r.UseCase, Volume: r.Volume, Chains: r.Chains, Assets: r.Assets,
		Permissions: r.Permissions, Endpoints: r.Endpoints, PerMinute: r.PerMinute, Concurrent: r.Concurrent, Expires: r.Expires, PublicTest: r.PublicTest,
	}
	if r.ExpiresIn > 0 {
		spec.Expires = time.Now().Add(r.ExpiresIn)
	}
	err = administer(ctx, data, true, func(keys service.KeyAdmin) error {
		text, info, err := keys.Add(ctx, spec)
		given = cli.GivenKey{Text: text, Key: keyLine(info)}
		return err
	})
	return given, err
}

// List lists the keys.
func (keyCommands) List(ctx context.Context, data string) (all []cli.Key, err error) {
	err = administer(ctx, data, false, func(keys service.KeyAdmin) error {
		infos, err := keys.List(ctx)
		for _, i := range infos {
			all = append(all, keyLine(i))
		}
		return err
	})
	return all, err
}

// Rotate gives a key a new text.
func (keyCommands) Rotate(ctx context.Context, data, id string, grace time.Duration) (given cli.GivenKey, err error) {
	err = administer(ctx, data, false, func(keys service.KeyAdmin) error {
		text, info, err := keys.Rotate(ctx, id, grace)
		given = cli.GivenKey{Text: text, Key: keyLine(info)}
		return err
	})
	return given, err
}

// Revoke ends a key.
func (keyCommands) Revoke(ctx context.Context, data, id string) (key cli.Key, err error) {
	err = administer(ctx, data, false, func(keys service.KeyAdmin) error {
		info, err := keys.Revoke(ctx, id)
		key = keyLine(info)
		return err
	})
	return key, err
}

func administer(ctx context.Context, data string, create bool, fn func(service.KeyAdmin) error) error {
	dir, err := dataDir(data)
	if err != nil {
		return err
	}
	return service.AdministerKeys(ctx, dir, create, fn)
}

// keyLine is a key as the command line tells of it; lists are never null.
func keyLine(i access.KeyInfo) cli.Key {
	list := func(of []string) []string { return append([]string{}, of...) }
	return cli.Key{
		ID: i.ID, State: i.State(time.Now()), Company: i.Company, Project: i.Project, UseCase: i.UseCase, Volume: i.Volume,
		Chains: list(i.Chains), Assets: list(i.Assets), Permissions: list(i.Permissions), Endpoints: list(i.Endpoints),
		PerMinute: i.PerMinute, Concurrent: i.Concurrent, PublicTest: i.PublicTest,
		Created: i.Created, Rotated: i.Rotated, PreviousUntil: i.PreviousUntil, Expires: i.Expires, Revoked: i.Revoked,
	}
}
