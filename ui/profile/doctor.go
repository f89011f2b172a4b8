package profile

import (
	"context"
	"errors"
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

// examiner is what the doctor needs without a profile.
func (h Host) examiner(build cli.Build, t doctor.Terminal) doctor.Deps {
	return doctor.Deps{Clock: time.Now, Terminal: t, Home: h.Getenv("HOME"), Writable: doctor.TryToWrite,
		Build: doctor.Build{Version: build.Version, Revision: build.Revision, Modified: build.Modified,
			Go: build.Go, System: runtime.GOOS + "/" + runtime.GOARCH}}
}

// DoctorDeps are what the doctor examines in this profile.
func (o *Opened) DoctorDeps(build cli.Build, t doctor.Terminal) doctor.Deps {
	d := o.host.examiner(build, t)
	d.Profile, d.Paths, d.Network, d.Catalog, d.Query = o.Profile, o.Paths, o.Network, o.Catalog, o.Query()
	d.Keys, d.AccountKeys = o.keysState, o.accountKeys
	d.Pins = func() error { return verify.CheckPins(o.Network) }
	if o.change != nil {
		d.Unconfirmed = o.unconfirmed()
	}
	if o.player == nil {
		d.Journal = o.journalState
	}
	if o.Client != nil { // a nil pointer in an interface is not nil
		d.Service = o.Client
	}
	if !o.Profile.Local() && o.player == nil {
		roots, err := o.Profile.Roots()
		if err != nil {
			d.Broken = err
		}
		d.TLS = dialTLS(o.Profile.BaseURL, roots)
	}
	if o.local != nil && o.local.Tanks != nil {
		d.Tanks, d.Lanes = o.Tanks, o.Lanes
	}
	if o.Profile.PolicyFile != "" {
		d.Policy = func() error { _, err := policy.Read(o.Profile.PolicyFile); return err }
	}
	return d
}

// Examine opens a profile for the doctor as far as that goes. What keeps it from opening is a finding, never an error.
// done closes what was opened.
func (h Host) Examine(ctx context.Context, name string, build cli.Build, t doctor.Terminal) (d doctor.Deps,
	done func()) {
	o, broken := h.open(ctx, name, "")
	if broken == nil { // the service answers a profile without an account as well
		broken = o.reach(ctx)
	} else {
		o, _ = h.OpenVault(ctx, name) // its error would be the same once more
	}
	if o != nil {
		d, done = o.DoctorDeps(build, t), func() { _ = o.Close() }
	} else {
		d, done = h.examiner(build, t), func() {}
		d.Paths, d.Profile, d.Unread = h.unread(name)
	}
	if broken != nil {
		d.Service, d.Broken, d.Todo = nil, broken, cli.Hint(broken)
		if errors.Is(broken, vault.ErrPassphrase) {
			d.Todo =
				"the API key is behind this passphrase: run coffer doctor again and type it; a forgotten one is only " +
					"replaced by a backup (coffer keys restore FILE)"
		}
	}
	return d, done
}

// unread finds what keeps a profile from being read at all: no home directory, a broken configuration, an unknown name.
func (h Host) unread(name string) (paths config.Paths, p config.Profile, found []doctor.Finding) {
	bad := func(what string, err error, todo string) []doctor.Finding {
		return append(found, doctor.Finding{Area: doctor.AreaFiles, Name: what, Level: doctor.Bad, Text: err.Error(),
			Todo: todo})
	}
	paths, err := config.PathsFrom(h.Getenv)
	if err != nil {
		return paths, p, bad("directories", err, "set HOME, or COFFER_CONFIG and COFFER_DATA to absolute paths")
	}
	file, err := config.Load(paths.Config)
	if err != nil {
		faults := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the faults that Load joined
			faults = joined.Unwrap()
		}
		for _, one := range faults {
			found = bad("configuration", one, "")
		}
		found[len(found)-1].Todo =
			"repair the file; coffer config check reads it again, coffer config example shows every key"
		return paths, p, found
	}
	if p, err = file.Profile(name); err != nil {
		return paths, p, bad("profile", err, "coffer profile list shows the profiles")
	}
	return paths, p, nil
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
