package app

import (
	"context"
	"errors"
	"io/fs"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/cli"
	"coffer/ui/cli/act"
	"coffer/ui/profile"
	"coffer/ui/quotelab"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Session opens a profile for commands. Closing the session wipes the keys, and a command closes it as soon as its
// context has ended.
func Session(ctx context.Context, host profile.Host, g cli.Global, machine string) (*act.Session, error) {
	s, err := host.Open(ctx, g.Profile, g.Account)
	if err != nil {
		return nil, err
	}
	state, options := s.Journal("coffer on " + machine)
	return &act.Session{
		Profile: s.Profile.Name, RPC: s.Profile.RPC, Network: s.Network, Catalog: s.Catalog,
		Accounts: s.Accounts, All: s.All,
		Query:   s.Query(),
		Service: s.Client, Lists: s.Lists,
		Locked: s.Locked, Unlock: s.Unlock, Lock: s.Lock, WatchOnly: s.WatchOnly, Close: s.Close,
		Keep: profile.Folder{Dir: state}, Plans: s.Plans(),
		Book: s.Contacts(), Known: s.Known, Own: s.NameOf,
		Follow: func(ctx context.Context, rec journal.Operation, status api.ExecutionStatus) []verify.Became {
			rules, err := s.Policy()
			if err != nil {
				return nil
			}
			return flow.Follow(ctx, s.View(), rules, rec, status)
		},
		Seen: chainOf(s),
		Sees: func() bool { return s.View() != nil },
		Read: func() (act.Book, error) {
			j, err := journal.OpenReadOnly(state, options)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil
			}
			return j, err
		},
		Work: func(tighten act.Tighten) (*act.Work, error) {
			if err := s.Unconfirmed(); err != nil {
				return nil, err
			}
			return work(s, tighten, profile.Folder{Dir: state},
				func() (*journal.Journal, error) { return journal.Open(state, options) })
		},
		Try: func(tighten act.Tighten) (*act.Work, error) {
			return work(s, tighten, unsaved{profile.Folder{Dir: state}},
				func() (*journal.Journal, error) { return journal.OpenScratch(state, options) })
		},
		Lab: func() (quotelab.Asker, func() error, error) {
			rules, err := s.Policy()
			a := quotelab.Asker{Client: s.Client, Policy: rules, History: verify.NoHistory{}, Clock: s.Clock,
				Sleep: client.Sleep, Budget: &quotelab.Budget{}}
			done := func() error { return nil }
			if err != nil {
				return a, done, err
			}
			j, err := journal.OpenReadOnly(state, options)
			if errors.Is(err, fs.ErrNotExist) {
				return a, done, nil
			}
			if err == nil {
				a.History, done = j, j.Close
			}
			return a, done, err
		},
		Lost:  func() (journal.Loss, error) { return journal.Examine(state, options) },
		Adopt: func() error { return journal.Adopt(state, options) },
	}, nil
}

// Balances asks what the accounts of a profile hold, and notes what the service states: later answers are compared
// with it (flow.Flow.Stated).
func Balances(ctx context.Context, host profile.Host, g cli.Global) (*api.Document, error) {
	s, err := host.Open(ctx, g.Profile, g.Account)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	answer, err := s.Client.BalancesDocument(ctx, s.Query())
	if err != nil {
		return nil, err
	}
	note(s, answer.Document)
	return answer.Document, nil
}

// Ready opens the keys of a profile where they are locked; a journal that is older than what was signed is an error,
// because nothing is signed then.
func Ready(ctx context.Context, s *profile.Opened) (err error) {
	state, options := s.Journal("coffer")
	j, err := journal.OpenScratch(state, options)
	if err == nil {
		if err = errors.Join(j.ReadOnly(), j.Close()); errors.Is(err, journal.ErrOlder) {
			err = &cli.RefusedError{Problem: err.Error()}
		}
	}
	if err != nil || !s.Locked() {
		return err
	}
	return s.Unlock(ctx)
}

// note keeps stated balances when it can read them and the journal.
func note(s *profile.Opened, doc *api.Document) {
	var b api.AggregatedBalance
	state, options := s.Journal("coffer")
	rules, err := s.Policy()
	if err != nil || doc.Decode(&b) != nil {
		return
	}
	j, err := journal.OpenScratch(state, options)
	if err != nil {
		return
	}
	defer func() { _ = j.Close() }()
	flow.New(flow.Deps{Client: s.Client, Journal: j, Policy: rules, Clock: s.Clock,
		Keep: profile.Folder{Dir: state}}).Stated(s.Accounts, b)
}

// unsaved is a folder in which a dry run writes nothing.
type unsaved struct{ profile.Folder }

// Save is part of flow.Keep.
func (unsaved) Save(string, []byte) error { return nil }

// work opens the journal for operations under the profile's policy.
func work(s *profile.Opened, tighten act.Tighten, keep flow.Keep,
	open func() (*journal.Journal, error)) (*act.Work, error) {
	rules, err := s.Policy()
	if err == nil && tighten != nil {
		rules.Limits, err = tighten(rules.Limits)
	}
	if err != nil {
		return nil, err
	}
	j, err := open()
	if err == nil && errors.Is(j.ReadOnly(), journal.ErrOlder) {
		err = errors.Join(j.ReadOnly(), j.Close())
	}
	if errors.Is(err, journal.ErrOlder) {
		return nil, &cli.RefusedError{Problem: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	f := flow.New(flow.Deps{Client: s.Client, Signer: s.Signer(), Journal: j, Policy: rules, Clock: s.Clock,
		Sleep: client.Sleep, Keep: keep, View: s.View()})
	return &act.Work{
		Start:      func(ctx context.Context, in intent.Intent) (act.Operation, error) { return f.Start(ctx, in) },
		Unfinished: func() []act.Operation { return operations[act.Operation](f) },
		Reconcile: func(ctx context.Context) error {
			_, err := f.Reconcile(ctx)
			return err
		},
		Observe: f.Observe,
		Hold:    j.Hold, Yield: f.Yield, Operations: j.Operations, Void: f.Void, Repair: f.Repair, Remark: j.Remark(),
		Close: j.Close,
	}, nil
}
