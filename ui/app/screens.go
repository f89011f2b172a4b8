package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/charmbracelet/x/term"

	"coffer/api/client"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/ui/linear"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui"
	"coffer/ui/tui/accounts"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/balances"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/history"
	"coffer/ui/tui/lab"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/settings"
	"coffer/ui/tui/wire"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

// options returns the options of the dashboard. It writes the profile that the user switches to into next.
func (d *opened) options(next **screen.SwitchMsg) tui.Options {
	names := make([]string, 0, len(d.file.Profiles))
	for name := range d.file.Profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	options := tui.Options{
		Env: d.o.Env, Suspended: d.s.Lock, Context: d.context(), UI: d.file.UI, Profiles: names,
		Screens: d.screens, Replay: d.o.Global.Replay != "",
	}
	if d.o.Global.Lab {
		options.Start = screen.Lab
	}
	if d.o.Global.Record == "" && d.o.Global.Replay == "" { // a recording is of one profile
		options.Switch = func(m screen.SwitchMsg) {
			*next = &m
			if m.Account != "" {
				d.under = d.flow.Unfinished() // it may end before the next screens look
			}
		}
	}
	return options
}

// screens builds the screens that need more than a source.
func (d *opened) screens(c screen.Context) map[screen.ID]screen.Screen {
	build := builder.New(c, builder.Deps{WatchOnly: d.s.WatchOnly, Balances: d.Balances, Book: d.s.Contacts(),
		Paid: d.book.Recipients})
	all := map[screen.ID]screen.Screen{
		screen.Balances: balances.New(c, d, balances.Allowances(d.allowances)), screen.Build: build,
		screen.History:  history.New(c, d),
		screen.Accounts: accounts.New(c, accountDeps(d.s, d.book)),
		screen.Review: review.New(c, review.Deps{
			Start:  d.begin,
			Locked: d.s.Locked, Unlock: d.s.UnlockWith, Names: d.name, Known: d.s.Known,
			NoSigner: cmp.Or(d.noSigner(), d.watch),
		}),
		screen.Activity: activity.New(c, activity.Deps{
			Unfinished: func() []activity.Operation { return found[activity.Operation](d) },
			Outstanding: func(now time.Time) []present.Signature {
				behind := min(d.skew(), 0) // the clock that is behind decides (TH-N9)
				return present.Signatures(d.s.Catalog, d.outstanding(now), behind)
			},
			Closed: func(now time.Time) []present.Closed {
				return present.ClosedSignatures(d.s.Catalog, d.closed(now), min(d.skew(), 0))
			},
			Observe: d.observe(),
			Void:    d.flow.Void,
		}),
		screen.Lab: lab.New(c, lab.Deps{
			Draft: build.Draft, Balances: d.Balances, Question: d.o.Global.Question,
			Quote: quotelab.Asker{Client: d.s.Client, Policy: d.rules, History: d.book, Clock: d.s.Clock,
				Sleep: client.Sleep, Budget: &quotelab.Budget{}}.Ask,
		}),
		screen.Wire: wire.New(c, wire.Deps{Log: d.log, Version: d.o.Build.Version}),
	}
	own := settingsDeps(d.s, d.o.Build, config.Getenv(d.o.Env))
	own.Actions = settings.Collect(all)
	all[screen.Settings] = settings.New(c, own)
	return all
}

// allowances lists what the journal's operations let contracts take.
func (d *opened) allowances() []present.Allowance {
	return present.Allowances(d.book.Operations(), d.s.Accounts)
}

// begin begins an operation in the journal.
func (d *opened) begin(ctx context.Context, in intent.Intent) (present.Driven, error) {
	return d.flow.Start(ctx, in)
}

// name returns the name of an account of the profile or of a known recipient; "" for any other address.
func (d *opened) name(address string) string {
	if name := d.s.NameOf(address); name != "" {
		return name
	}
	return (&compose.World{Book: d.s.Contacts()}).NameOf(address)
}

// whose says whose an address is, or which known one it imitates.
func (d *opened) whose(address string) (string, compose.Level) {
	return (&compose.World{Book: d.s.Contacts(), Accounts: d.s.Accounts}).Whose(address)
}

// saveContact changes the contacts. A guest sees no path of this machine.
func (d *opened) saveContact(from, name, address string) error {
	err := d.s.Book.Save(context.Background(), from, name, address)
	var path *fs.PathError
	var fault *config.Error
	if d.visit != nil && (errors.As(err, &path) || errors.As(err, &fault)) {
		return errors.New("your contacts could not be written on the server; tell the operator")
	}
	return err
}

// operations lists the operations under way, as one kind of screen knows them.
func operations[T any](f *flow.Flow) []T {
	var out []T
	for _, o := range f.Unfinished() {
		out = append(out, any(o).(T))
	}
	return out
}

// found adds what was under way when the profile was opened and has ended since: the service may have reported the end
// before any screen looked, and the user has to see it all the same.
func found[T interface{ ID() string }](d *opened) []T {
	unfinished := operations[T](d.flow)
	var out []T
	for _, o := range d.under {
		if !slices.ContainsFunc(unfinished, func(u T) bool { return u.ID() == o.ID() }) {
			out = append(out, any(o).(T))
		}
	}
	return append(out, unfinished...)
}

// isTerminal reports whether a person types.
func isTerminal(in io.Reader) bool {
	f, ok := in.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(f.Fd())
}

// narrow is the width of a terminal that is narrower than the lines of the linear mode, else 0.
func narrow(out io.Writer) int {
	f, ok := out.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	if w, _, err := term.GetSize(f.Fd()); err == nil && w < linear.Width {
		return w
	}
	return 0
}

// use lets the linear mode use another account; a recording is of one.
func (d *opened) use() func(address string) (linear.Used, error) {
	if d.o.Global.Record != "" || d.o.Global.Replay != "" {
		return nil
	}
	return func(address string) (linear.Used, error) {
		err := d.s.Use(address)
		return linear.Used{Accounts: d.s.Accounts, Own: d.s.Own(), Book: d.s.Contacts()}, err
	}
}

// talk is the linear mode.
func (d *opened) talk(ctx context.Context) error {
	c := d.context()
	return linear.Run(ctx, linear.Options{
		Context: linear.Context{
			Profile: c.Profile, BaseURL: c.BaseURL, Network: c.Network, Catalog: c.Catalog, Accounts: c.Accounts,
			Own: c.Own, Clock: c.Clock, Vault: c.Vault, Dust: c.Settings.Dust, Hidden: c.Settings.Hidden,
			Export: c.Export, Terms: c.Terms, Names: c.Names,
		},
		In: d.o.In, Out: d.o.Out, Notice: d.notice(), Terminal: isTerminal(d.o.In), Width: narrow(d.o.Out),
		Deps: linear.Deps{
			Start:       d.begin,
			Use:         d.use(),
			Unfinished:  func() []linear.Operation { return found[linear.Operation](d) },
			Outstanding: d.outstanding, Closed: d.closed, Observe: d.observe(), Allowances: d.allowances,
			Tank: tankOf(d.s),
			Void: d.flow.Void, Balances: d.Balances, History: d.History, Book: d.s.Contacts(),
			Known: d.s.Known, Locked: d.s.Locked, Unlock: d.s.UnlockWith, WatchOnly: d.s.WatchOnly,
			Secret: func(ctx context.Context, question string) (secret.Secret, error) {
				pass, err := d.o.Secret(ctx, question)
				if cli.Interrupted(err) && ctx.Err() == nil {
					err = linear.ErrLeft
				}
				return pass, err
			},
		},
	})
}
