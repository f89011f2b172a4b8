// Package app opens a profile and puts it together: its journal, the flow of its operations and its screens, or the
// conversation of the linear mode.
//
// Promise: a profile is open while its screens are shown and no longer. The journal has one holder. What was under way
// when the program ended last continues at once. Keys are wiped as soon as the context ends, also when the terminal no
// longer takes output. The packages of the screens set their rules.
//
// Errors are those of the profile, the journal and the terminal. Sources: docs/architecture.md; TH-K6.
package app

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/client/httplog"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/ui/tui"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/setup"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Options set for whom the program runs and on which terminal. Env is the environment of the user's terminal.
type Options struct {
	Host    profile.Host
	Global  cli.Global
	Build   cli.Build
	Env     []string
	In      io.Reader // of the linear mode, as Out is; the screens find the terminal themselves
	Out     io.Writer
	Machine string // the holder of the journal, as its lock names it
	// Secret asks on the terminal for a hidden input, for the linear mode.
	Secret func(ctx context.Context, question string) (secret.Secret, error)
	// Confirm asks the user to confirm what changed about the network; nil asks nothing.
	Confirm func(context.Context, *profile.Opened) error
	// Abort ends the program when it hangs after its context ended.
	Abort func()
}

// Run shows the profile, and the next one as long as the user switches to one. A set-up that the user leaves returns
// to the profile that asked for it.
func Run(ctx context.Context, o Options) error {
	if !o.Global.Linear && tui.Dumb(o.Env) {
		return &cli.UsageError{Problem: "this terminal cannot move the cursor (TERM)",
			Hint: "use `coffer --linear`: the same wallet, line by line"}
	}
	for {
		next, err := show(ctx, o)
		if err != nil || next == nil || ctx.Err() != nil {
			return err
		}
		if !next.Setup {
			o.Global.Profile = next.Profile
			continue
		}
		name, err := SetUp(ctx, o)
		if err != nil {
			return err
		}
		if name != "" {
			o.Global.Profile = name
		}
	}
}

// SetUp walks the user through the set-up of a profile and returns its name, or "" when the user left.
func SetUp(ctx context.Context, o Options) (string, error) {
	ui, err := o.Host.UI()
	if err != nil {
		return "", err
	}
	return setup.Run(ctx, setup.Options{Maker: o.Host, Env: o.Env, UI: ui})
}

// opened is an opened profile with its journal and its flow.
type opened struct {
	o     Options
	s     *profile.Opened
	rules verify.Policy
	book  *journal.Journal
	flow  *flow.Flow
	log   *httplog.Log
	file  config.File
	skew  func() time.Duration // the service's clock minus the local one
	watch string               // why nothing can be signed, as known at the start
	visit *Visit               // nil unless a guest uses it
	under []*flow.Operation    // what was under way when the profile was opened
}

// open opens everything; the returned function closes it again and returns what failed at the end, such as a
// recording.
func open(ctx context.Context, o Options) (d *opened, done func() error, err error) {
	d = &opened{o: o, log: httplog.NewLog(time.Now)}
	host := o.Host
	host.Log, host.Record = d.log, o.Global.Record
	if o.Global.Replay != "" {
		d.s, err = host.Replay(ctx, o.Global.Replay)
	} else {
		d.s, err = host.Open(ctx, o.Global.Profile, o.Global.Account)
	}
	if err != nil {
		return nil, nil, err
	}
	d.file, err = config.Load(d.s.Paths.Config)
	if err == nil && d.s.Change() != nil && o.Confirm != nil {
		err = o.Confirm(ctx, d.s)
	}
	if err == nil {
		err = d.start()
	}
	if err != nil {
		return nil, nil, errors.Join(err, d.s.Close())
	}
	return d, d.close, nil
}

// start opens the journal and the flow of an opened profile.
func (d *opened) start() (err error) {
	if d.rules, err = d.s.Policy(); err != nil {
		return err
	}
	state, options := d.s.Journal("coffer on " + d.o.Machine)
	if d.book, err = journal.Open(state, options); err != nil {
		return err
	}
	d.skew = d.s.Client.Skew
	d.flow = flow.New(flow.Deps{
		Client: d.s.Client, Signer: d.s.Signer(), Journal: d.book, Policy: d.rules, Clock: d.s.Clock,
		Sleep: client.Sleep,
		Keep:  profile.Folder{Dir: state}, View: d.s.View(),
	})
	return nil
}

// notice is what the user has to know about network and journal before anything else; "" for nothing.
func (d *opened) notice() string {
	if d.s.Change() != nil {
		return d.s.ReadOnly()
	}
	if err := d.book.ReadOnly(); err != nil {
		return err.Error()
	}
	return d.book.Remark()
}

// headline is notice in one line.
func (d *opened) headline() string {
	if errors.Is(d.book.ReadOnly(), journal.ErrOlder) {
		return "An older journal: nothing is signed. coffer activity adopt says what is lost"
	}
	return d.notice()
}

// noSigner returns why nothing can be signed in this profile now; "" when signing is possible.
func (d *opened) noSigner() string {
	if words := d.s.ReadOnly(); words != "" {
		return words
	}
	err := d.book.ReadOnly()
	switch {
	case err == nil:
		return ""
	case d.visit != nil:
		return guestReadOnly
	}
	return err.Error()
}

func (d *opened) close() error { return errors.Join(d.book.Close(), d.s.Close()) }

// show opens the profile and shows it until the user leaves; next is the profile to switch to, nil to leave.
func show(ctx context.Context, o Options) (next *screen.SwitchMsg, err error) {
	d, done, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	life, end := context.WithCancel(ctx)
	defer end()
	d.under, d.watch = d.flow.Unfinished(), d.s.WatchOnly(ctx)
	go func() { _, _ = d.flow.Reconcile(life) }() // the snapshots have what it finds
	defer endInTime(ctx, d.s.Wipe, o.Abort)()
	if o.Global.Linear {
		defer lockOnSuspend(d.s.Lock, stopProcess)()
		err = d.talk(ctx)
	} else {
		next, err = d.screensOf(ctx)
	}
	if ctx.Err() != nil {
		return nil, nil // a signal ended it, as asked
	}
	return next, err
}

// screensOf shows the screens, with one account of the profile after another as the user chooses them; everything else
// stays open, and what is under way is followed on.
func (d *opened) screensOf(ctx context.Context) (next *screen.SwitchMsg, err error) {
	var view tui.View
	if out, ok := d.o.Out.(*os.File); ok && d.visit == nil {
		view.Over(out)
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	for notice := d.headline(); ; notice = "" {
		screens := d.options(&next)
		screens.Notice, screens.View = notice, &view
		if err := tui.Run(ctx, screens); err != nil || next == nil || next.Account == "" || ctx.Err() != nil {
			return next, err
		}
		if err := d.s.Use(next.Account); err != nil {
			return nil, err
		}
		next, d.watch = nil, d.s.WatchOnly(ctx)
	}
}

// context is what every screen gets.
func (d *opened) context() screen.Context {
	s := d.s
	c := screen.Context{
		Own:     s.Own(),
		Profile: s.Title(), BaseURL: s.Where, Network: s.Network, Catalog: s.Catalog, Accounts: s.Accounts,
		Clock: s.Clock, Vault: s.Store(),
		Keep:   s.Screens(),
		Export: profile.Folder{Dir: s.Paths.ProfileExports(s.Profile.Name)}.Export,
		Settings: screen.Preferences{Dust: d.file.UI.DustMicro(), Hidden: d.file.UI.HideAmounts,
			Proxy: s.Client.Proxy()},
		Terms: d.book.Terms, Names: d.name,
		Contacts: screen.Contacts{List: s.Contacts, Save: d.saveContact, Whose: d.whose},
	}
	if d.visit != nil {
		d.visit.restrict(&c)
	}
	return c
}

// outstanding lists the signatures that can still be used, by the clock that is behind: the user must not read that
// one has ended while its window is open by either clock (TH-N9, J4).
func (d *opened) outstanding(now time.Time) []journal.Outstanding {
	return d.book.Outstanding(now.Add(min(d.skew(), 0)))
}

// closed lists the signatures that own nodes closed, by the same clock.
func (d *opened) closed(now time.Time) []journal.Closed {
	return d.book.Closed(now.Add(min(d.skew(), 0)))
}

// observe asks own nodes which open signatures are used; nil where none are named.
func (d *opened) observe() func(ctx context.Context) error {
	if d.s.View() == nil {
		return nil
	}
	return d.flow.Observe
}

// Balances reads what the accounts of the profile hold.
func (d *opened) Balances(ctx context.Context) (api.AggregatedBalance, error) {
	b, err := d.s.Client.Balances(ctx, d.s.Query())
	if err == nil {
		d.flow.Stated(d.s.Accounts, b)
	}
	return b, err
}

// History reads a page of the history of the account in use, with what own nodes saw of the Solana account.
func (d *opened) History(ctx context.Context, limit int, continuation string) (api.HistoryPage, error) {
	return pastOf(d.s).History(ctx, limit, continuation)
}

// endInTime wipes the keys as soon as ctx ends, and ends the program two seconds later even when the terminal no
// longer takes output and the screens wait for it. The returned function cancels it.
func endInTime(ctx context.Context, wipe, abort func()) (leave func()) {
	left := make(chan struct{})
	go func() {
		select {
		case <-left:
			return
		case <-ctx.Done():
		}
		wipe()
		select {
		case <-left:
		case <-time.After(2 * time.Second):
			abort()
		}
	}()
	return func() { close(left) }
}
