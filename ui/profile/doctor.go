package profile

import (
	"context"
	"runtime"
	"time"

	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/wallet/policy"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// UI is what the configuration says about the screens.
func (h Host) UI() (config.UI, error) {
	_, file, err := config.Find(h.Getenv)
	return file.UI, err
}

// Configured is the configuration as it is now.
func (o *Opened) Configured() (config.File, error) {
	_, file, err := config.Find(o.host.Getenv)
	return file, err
}

// IsGuest reports a guest's profile, which has no place of its own on this machine.
func (o *Opened) IsGuest() bool { return o.guest != nil }

// PolicyWords describes the limits of the profile's policy file.
func (o *Opened) PolicyWords() ([]string, error) {
	file, err := policy.Read(o.Profile.PolicyFile)
	if err != nil {
		return nil, err
	}
	return LimitWords(file.Limits(o.Network.ID), o.Catalog), nil
}

// DoctorDeps are what the doctor examines in this profile.
func (o *Opened) DoctorDeps(build cli.Build, t doctor.Terminal) doctor.Deps {
	d := doctor.Deps{
		Clock: time.Now, Profile: o.Profile, Paths: o.Paths, Network: o.Network, Catalog: o.Catalog, Query: o.Query(),
		Keys: o.keysState, Terminal: t,
		AccountKeys: o.accountKeys,
		Pins:        func() error { return verify.CheckPins(o.Network) },
		Build: doctor.Build{Version: build.Version, Revision: build.Revision, Modified: build.Modified,
			Go: build.Go, System: runtime.GOOS + "/" + runtime.GOARCH},
		Home: o.host.Getenv("HOME"),
	}
	if o.change != nil {
		d.Unconfirmed = o.unconfirmed()
	}
	if o.player == nil {
		d.Journal = o.journalState
	}
	if o.Client != nil { // a nil pointer in an interface is not nil
		d.Service = o.Client
	}
	if !o.Profile.Embedded() && o.player == nil {
		roots, err := o.Profile.Roots()
		if err != nil {
			d.Broken = err
		}
		d.TLS = dialTLS(o.Profile.BaseURL, roots)
	}
	if o.Profile.PolicyFile != "" {
		d.Policy = func() error { _, err := policy.Read(o.Profile.PolicyFile); return err }
	}
	return d
}

// keysState checks whether the place of the keys works.
func (o *Opened) keysState(ctx context.Context) doctor.Keys {
	k := doctor.Keys{Where: o.Store().Where, Command: len(o.Profile.SignerCommand) > 0, None: o.vault == nil}
	if o.vault == nil || k.Command {
		return k
	}
	k.Setup, k.Err = o.vault.Exists(ctx)
	k.Locked = o.vault.Locked()
	if k.Err == nil && o.vault.Backend() != vault.BackendFile {
		k.Err = o.vault.Probe(ctx)
	}
	return k
}
