package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/client"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// No screen says that a signature has ended while its window is open by the clock of the service, even when the local
// clock is ahead.
func TestN9ASignatureIsListedUntilBothClocksSayThatItHasEnded(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	book, err := journal.Open(t.TempDir(), journal.Options{Network: "n", Clock: func() time.Time { return now },
		Random: bytes.NewReader(make([]byte, 8))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	id, err := book.Begin([]byte("{}"), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Append(id, journal.Prepared, journal.Entry{Document: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	s := journal.Signature{Role: "prepared", Chain: "eip155:8453", ChainID: 8453,
		Sender: "0x21f6b1D4B4fA4bE12C4c4a60cE0C4C4A5D4f5A10", Nonce: "0", OpHash: "0x01",
		ValidUntil: now.Add(time.Minute).Unix()}
	if err := book.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{s}}); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		skew, later time.Duration
		listed      int
	}{{0, time.Minute, 1}, {0, 10 * time.Minute, 0}, {-15 * time.Minute, 10 * time.Minute, 1},
		{15 * time.Minute, time.Minute, 1}} {
		d := &opened{book: book, skew: func() time.Duration { return x.skew }}
		if got := d.outstanding(now.Add(x.later)); len(got) != x.listed {
			t.Errorf("%s later, with the service's clock %s ahead: %d listed", x.later, x.skew, len(got))
		}
	}
}

// What was under way when the profile was opened is listed even when it ended before a screen looked.
func TestAnOperationThatEndsBeforeAnybodyLooksIsListed(t *testing.T) {
	book, err := journal.Open(t.TempDir(), journal.Options{Network: "n", Clock: time.Now,
		Random: bytes.NewReader(make([]byte, 64))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	id, err := book.Begin([]byte("{}"), [32]byte{})
	err = errors.Join(err, book.Append(id, journal.Prepared, journal.Entry{Document: []byte("{}")}))
	err = errors.Join(err, book.Append(id, journal.Signed,
		journal.Entry{Signatures: []journal.Signature{{Role: "prepared", Chain: "eip155:8453", ChainID: 8453,
			Nonce: "0", OpHash: "0x01"}}}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{BaseURL: "https://service.example"})
	if err != nil {
		t.Fatal(err)
	}
	d := &opened{book: book, flow: flow.New(flow.Deps{Client: c, Journal: book, Clock: time.Now})}
	list := func() []activity.Operation { return found[activity.Operation](d) }
	d.under = d.flow.Unfinished()
	if got := list(); len(got) != 1 || got[0].ID() != id {
		t.Fatalf("%d are under way", len(got))
	}
	if err := d.under[0].Abandon(); err != nil {
		t.Fatal(err)
	}
	if n := len(d.flow.Unfinished()); n != 0 {
		t.Errorf("%d have no end", n)
	}
	if got := list(); len(got) != 1 || got[0].Snapshot().State != flow.StateAbandoned {
		t.Errorf("%d are listed", len(got))
	}
}

// What is under way when another account is chosen is listed by the next screens, also when it ends in between.
func TestD17_WhatIsUnderWayIsFollowedOnAfterASwitch(t *testing.T) {
	book, err := journal.Open(t.TempDir(), journal.Options{Network: "n", Clock: time.Now,
		Random: bytes.NewReader(make([]byte, 64))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	c, err := client.New(client.Options{BaseURL: "https://service.example"})
	if err != nil {
		t.Fatal(err)
	}
	d := &opened{book: book, flow: flow.New(flow.Deps{Client: c, Journal: book, Clock: time.Now}),
		s: &profile.Opened{Profile: config.Profile{Name: "demo"}, Client: c}}
	id, err := book.Begin([]byte("{}"), [32]byte{})
	err = errors.Join(err, book.Append(id, journal.Prepared, journal.Entry{Document: []byte("{}")}))
	err = errors.Join(err, book.Append(id, journal.Signed,
		journal.Entry{Signatures: []journal.Signature{{Role: "prepared", Chain: "eip155:8453", ChainID: 8453,
			Nonce: "0", OpHash: "0x01"}}}))
	if err != nil {
		t.Fatal(err)
	}
	var next *screen.SwitchMsg
	d.options(&next).Switch(screen.SwitchMsg{Account: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"})
	if len(d.under) != 1 || next == nil {
		t.Fatalf("%d are under way", len(d.under))
	}
	if err := d.under[0].Abandon(); err != nil {
		t.Fatal(err)
	}
	if got := found[activity.Operation](d); len(got) != 1 || got[0].ID() != id || len(d.flow.Unfinished()) != 0 {
		t.Errorf("%d are listed", len(got))
	}
}

func TestARecordingIsOfOneProfile(t *testing.T) {
	c, err := client.New(client.Options{BaseURL: "https://service.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		global cli.Global
		may    bool
	}{{cli.Global{}, true}, {cli.Global{Record: "there"}, false}, {cli.Global{Replay: "there"}, false}} {
		d := &opened{o: Options{Global: x.global}, s: &profile.Opened{Profile: config.Profile{Name: "demo"}, Client: c}}
		var next *screen.SwitchMsg
		o := d.options(&next)
		if (o.Switch != nil) != x.may {
			t.Errorf("%+v: may switch %v", x.global, o.Switch != nil)
		}
		if o.Switch != nil {
			o.Switch(screen.SwitchMsg{Profile: "other"})
			if next == nil || next.Profile != "other" {
				t.Error("a switch leads nowhere")
			}
		}
	}
}

// The dashboard says that the journal is older, and what to do; a guest sees no path of the machine.
func TestK7_AnOlderJournalIsSaidAtTheStart(t *testing.T) {
	dir := t.TempDir()
	o := journal.Options{Network: "n", Clock: time.Now, Random: bytes.NewReader(make([]byte, 64)),
		Anchor: filepath.Join(t.TempDir(), "journal")}
	book, err := journal.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = book.Begin([]byte("{}"), [32]byte{})
	d := &opened{book: book, s: &profile.Opened{}}
	if d.notice() != "" || d.headline() != "" || d.noSigner() != "" {
		t.Errorf("%q %q", d.notice(), d.noSigner())
	}
	if err := errors.Join(err, book.Close(), os.Remove(filepath.Join(dir, "journal"))); err != nil {
		t.Fatal(err)
	}
	if d.book, err = journal.Open(dir, o); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.book.Close() }()
	for _, words := range []string{d.notice(), d.noSigner()} {
		if !strings.Contains(words, "older than what was signed") || !strings.Contains(words, dir) ||
			!strings.Contains(words, "coffer activity adopt") {
			t.Errorf("%q", words)
		}
	}
	if !strings.Contains(d.headline(), "coffer activity adopt") || len(d.headline()) > 78 {
		t.Errorf("%q", d.headline())
	}
	d.visit = &Visit{}
	if words := d.noSigner(); words == "" || strings.Contains(words, dir) {
		t.Errorf("a guest is told %q", words)
	}
}
