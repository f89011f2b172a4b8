package profile

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/client/replay"
	"coffer/api/op"
	"coffer/config"
	"coffer/wallet/sign"
	"coffer/wallet/verify"
)

// dial makes the client; a log and a recorder see its exchanges.
func (o *Opened) dial(opts client.Options) error {
	log := o.host.Log
	var recorder *replay.Recorder
	if o.host.Record != "" && len(o.Accounts) > 0 {
		var err error
		about := replay.About{Profile: o.Profile.Name, BaseURL: opts.BaseURL, Network: o.Network, Accounts: o.Accounts}
		if recorder, err = replay.Record(o.host.Record, about, time.Now); err != nil {
			return err
		}
		o.close = append(o.close, recorder.Close)
	}
	opts.Wrap = func(rt http.RoundTripper) http.RoundTripper {
		if recorder != nil {
			rt = recorder.Wrap(rt)
		}
		if log != nil {
			rt = log.Wrap(rt)
		}
		return rt
	}
	var err error
	o.Client, err = client.New(opts)
	return err
}

// Replay opens a recording as if it were a profile: its network, its accounts and a service that answers with what was
// recorded, without a network and without keys. Its signer refuses; its state is in a directory that Close removes, so
// that nothing of a replay reaches the journal of a profile. Clock is the clock to use with it.
func (h Host) Replay(ctx context.Context, dir string) (*Opened, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	player, about, err := replay.Open(dir, time.Now)
	if err != nil {
		return nil, err
	}
	paths, err := config.PathsFrom(h.Getenv)
	if err != nil {
		return nil, err
	}
	if paths.State, err = os.MkdirTemp("", "coffer-replay-"); err != nil { // 0700
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	o := &Opened{
		Profile: config.Profile{
			Name: about.Profile + "-replay", Kind: about.Network.Kind, NetworkID: about.Network.ID,
			BaseURL: about.BaseURL, Vault: config.VaultMemory,
		},
		Paths: paths, Where: "the recording in " + dir, Network: about.Network, Accounts: about.Accounts,
		All:    about.Accounts,
		host:   h,
		player: player, tags: tags{about.Network.ID, about.Network.ID},
		close: []func() error{func() error { return os.RemoveAll(paths.State) }},
	}
	for _, a := range about.Accounts {
		o.Profile.Accounts = append(o.Profile.Accounts, config.Account{
			Type: a.Type, AccountAddress: a.AccountAddress, SignerAddress: a.SignerAddress,
			SessionAddress: a.SessionAddress, AdminAddress: a.AdminAddress,
			DeploymentType: a.DeploymentType,
		})
	}
	o.host.Record = "" // a replay is not recorded again
	if o.Catalog, err = catalog.Load(); err == nil {
		o.Book, err = openBook(paths.Config, o.Catalog)
	}
	if err == nil {
		err = o.dial(client.Options{BaseURL: about.BaseURL, Transport: player, Clock: player.Clock})
	}
	if err != nil {
		_ = o.Close()
		return nil, err
	}
	return o, nil
}

// Replaying reports whether this is a recording: nothing can be signed or executed.
func (o *Opened) Replaying() bool { return o.player != nil }

// Clock is the time of the profile: that of a recording in a replay, else the real one.
func (o *Opened) Clock() time.Time {
	if o.player != nil {
		return o.player.Clock()
	}
	return time.Now()
}

// refusing is the signer of a profile that signs nothing; its error says why.
type refusing struct{ err error }

// SignUserOp refuses.
func (r refusing) SignUserOp(context.Context, verify.VerifiedUserOp) (sign.Signature, error) {
	return sign.Signature{}, r.err
}

// SignApprove refuses.
func (r refusing) SignApprove(context.Context, verify.VerifiedApprove) (sign.Signature, error) {
	return sign.Signature{}, r.err
}

// SignDelegation refuses.
func (r refusing) SignDelegation(context.Context, verify.VerifiedDelegation) (op.SignedAuthorization, error) {
	return op.SignedAuthorization{}, r.err
}

// SignSolana refuses.
func (r refusing) SignSolana(context.Context, verify.VerifiedMessage) (sign.Signature, error) {
	return sign.Signature{}, r.err
}
