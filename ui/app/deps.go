package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/gastank"
	"coffer/api/op"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/ui/tui/accounts"
	"coffer/ui/tui/settings"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// accountDeps are what the accounts screen shows beside its context. A guest sets up no profile. A nil journal has no
// records.
func accountDeps(o *profile.Opened, j *journal.Journal) accounts.Deps {
	d := accounts.Deps{Setup: !o.IsGuest(), States: func(ctx context.Context, a api.Account) ([]accounts.OnChain,
		error) {
		return onChains(ctx, o, j, a)
	}}
	if !o.Replaying() {
		d.Lists = func(ctx context.Context) (verify.AssetList, verify.Report, error) {
			l, err := o.Lists(ctx)
			return l.Assets, l.Report, err
		}
		d.Accept = o.AcceptAsset
	}
	d.Tank = tankOf(o)
	if o.Replaying() || o.IsGuest() {
		return d // guests and replays have one profile
	}
	file, err := o.Configured()
	if err != nil {
		return d // the next start reports a broken file
	}
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		p := file.Profiles[name]
		service := p.BaseURL
		if p.OwnNodes() {
			service = profile.OnOwnNodes
		}
		d.Profiles = append(d.Profiles, accounts.Profile{Name: name, Kind: p.Kind, Service: service,
			Keys: keysWords(p), NoOwnAccount: len(p.Accounts) == 0 && (!p.Embedded() || p.Vault != config.VaultMemory)})
	}
	return d
}

// tankOf reads what the gas tank has, on own nodes; nil on other networks.
func tankOf(o *profile.Opened) func(context.Context) (gastank.Report, error) {
	if present.GasTank(o.Network) == "" || o.Replaying() {
		return nil
	}
	return o.Tank
}

func keysWords(p config.Profile) string {
	if len(p.SignerCommand) > 0 {
		return "with another program"
	}
	switch p.Vault {
	case config.VaultFile:
		return "in an encrypted file"
	case config.VaultKeyring:
		return "in the keyring, encrypted as well"
	case config.VaultKeyringOnly:
		return "in the keyring"
	}
	if p.Embedded() {
		return "of the demo"
	}
	return "nowhere"
}

// onChains lists where an account exists. For a role-based one the service reports it; for the others the journal has
// the chains they acted on.
func onChains(ctx context.Context, o *profile.Opened, j *journal.Journal, a api.Account) ([]accounts.OnChain, error) {
	var out []accounts.OnChain
	at := common.HexToAddress(a.AccountAddress)
	for _, id := range o.Network.Chains {
		chain, err := caip.ParseChain(id)
		number, evm := chain.EVMID()
		if err != nil || !evm {
			continue
		}
		on := accounts.OnChain{Chain: id}
		switch {
		case a.Type == api.AccountRoleBased && o.Client != nil:
			r, err := o.Client.Roles(ctx, caip.EVMAccount(number, at).String())
			if err != nil {
				return nil, err
			}
			on.Known, on.There, on.Session, on.Admin = true, r.Deployed, r.SessionAddress, r.AdminAddress
			if r.ExitAvailableAt > 0 && r.ExitAvailableAt < 1<<40 {
				on.ExitAt = time.Unix(int64(r.ExitAvailableAt), 0)
			}
		case j == nil:
		case a.Type == api.AccountKernelV33:
			next, ok := j.NextAuthorization(at, number)
			on.Known, on.There = ok && next > 0, ok && next > 0
		default:
			for _, lane := range []uint16{op.LanePrepared, op.LaneFunding} {
				if next, ok := j.NextSequence(at, number, lane); ok && next > 0 {
					on.Known, on.There = true, true
				}
			}
		}
		out = append(out, on)
	}
	return out, nil
}

// settingsDeps are what the settings screen works with, except Actions, which the screens supply. getenv reads the
// environment of the user's terminal.
func settingsDeps(o *profile.Opened, build cli.Build, getenv func(string) string) settings.Deps {
	if o.IsGuest() {
		return guestSettings(o, getenv)
	}
	d := settings.Deps{
		Config: o.Paths.Config, Service: o.Where, Getenv: getenv,
		Save: func(ui config.UI) error { return config.SetUI(o.Paths.Config, ui) },
		Doctor: func(ctx context.Context, t doctor.Terminal) []doctor.Finding {
			return doctor.Run(ctx, o.DoctorDeps(build, t))
		},
		Report: func(found []doctor.Finding) string {
			return doctor.Report(found, o.DoctorDeps(build, doctor.Terminal{}))
		},
	}
	file, _ := o.Configured() // the program read it a moment ago
	d.UI = file.UI
	name := o.Profile.Name
	d.Paths = []settings.Path{
		{Name: "configuration", Path: o.Paths.Config}, {Name: "journal", Path: o.Paths.ProfileState(name)},
		{Name: "kept screens", Path: o.Paths.ProfileScreens(name)},
		{Name: "exports", Path: o.Paths.ProfileExports(name)},
	}
	if o.Profile.Embedded() {
		d.RPC, d.Endpoints = o.Profile.RPC, func() (all []settings.Path, err error) {
			list, err := o.Endpoints()
			for _, e := range list {
				all = append(all, settings.Path{Name: e.Name, Path: e.URL})
			}
			return all, err
		}
		d.Paths = append(d.Paths, settings.Path{Name: "chains", Path: o.Paths.ProfileData(name)})
	} else if o.Profile.OwnNodes() {
		d.Paths = append(d.Paths, settings.Path{Name: "nodes", Path: o.Profile.Networks},
			settings.Path{Name: "gas tank's key", Path: o.Paths.ProfileData(name)})
	} else {
		d.Paths = append(d.Paths, settings.Path{Name: "network file", Path: o.Profile.NetworkFile})
	}
	if o.Profile.CAFile != "" {
		d.Paths = append(d.Paths, settings.Path{Name: "CA file", Path: o.Profile.CAFile})
	}
	if o.Profile.Vault == config.VaultFile {
		d.Paths = append(d.Paths, settings.Path{Name: "keys", Path: o.Paths.ProfileKeys(name)})
	}
	if o.Vault() != nil {
		d.LockAfter = o.Profile.LockTime()
	}
	if d.PolicyFile = o.Profile.PolicyFile; d.PolicyFile != "" {
		d.Policy = o.PolicyWords
	}
	return d
}

// guestSettings are the settings of a guest: its own choices about the screens, and nothing about this machine.
func guestSettings(o *profile.Opened, getenv func(string) string) settings.Deps {
	return settings.Deps{
		UI: o.UI(), Config: "your own settings on the server", Service: o.Where, Getenv: getenv,
		Save: func(ui config.UI) error {
			if err := config.SetUI(o.Paths.Config, ui); err != nil {
				// without the path
				return errors.New("your settings could not be written on the server; tell the operator")
			}
			return nil
		},
	}
}
