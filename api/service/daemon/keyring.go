package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/api/service/keyfile"
	"coffer/api/service/remotenet"
)

// Passphrase gives the passphrase of a file of keys. fresh says that the file is made with it.
type Passphrase func(ctx context.Context, file string, fresh bool) (secret.Secret, error)

// openKeyFile opens the keys of the network of a file, or makes them.
func openKeyFile(ctx context.Context, path, network string, ask networks.Credential, pass Passphrase, work int,
	log *slog.Logger) (*keyfile.File, error) {
	id, err := remotenet.Identify(ctx, remotenet.Options{File: network, Credential: ask, Clock: time.Now, Log: log})
	if err != nil {
		return nil, fmt.Errorf("the keys are for one network, and it cannot be told which this is: %w", err)
	}
	if pass == nil {
		return nil, errors.New("no passphrase can be asked for")
	}
	f, made, err := keyfile.Open(keyfile.Options{Path: path, Network: id, Random: rand.Reader, Work: work,
		Pass: func(fresh bool) (secret.Secret, error) { return pass(ctx, path, fresh) }})
	if made {
		log.Info("keys were made: without this file and its passphrase they are gone", "file", path)
	}
	return f, err
}

// credentials are the secrets of a file of keys. What it does not have is asked for and kept there.
func credentials(f *keyfile.File, ask networks.Credential) networks.Credential {
	if f == nil {
		return ask
	}
	return func(ctx context.Context, name, host string) (string, error) {
		known, err := f.Secret(name, host)
		if !errors.Is(err, keyfile.ErrNoSecret) || ask == nil {
			return known, err
		}
		given, err := ask(ctx, name, host)
		if err != nil {
			return "", err
		}
		return given, f.SetSecret(name, host, secret.New([]byte(given)))
	}
}
