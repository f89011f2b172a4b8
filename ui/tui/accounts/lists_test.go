package accounts

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/wallet/verify"
)

// lister is a service whose list of assets is compared; an accepted change is no change any more.
type lister struct {
	changes  []verify.AssetChange
	err      error
	accepted []string
}

func (l *lister) deps() Deps {
	return Deps{
		Lists: func(context.Context) (verify.AssetList, verify.Report, error) {
			return verify.AssetList{Usable: []string{"ob:usdc"}, Changes: l.changes}, verify.Report{}, l.err
		},
		Accept: func(c verify.AssetChange) error {
			l.accepted = append(l.accepted, c.ID)
			l.changes = l.changes[:1]
			return nil
		},
	}
}

// told runs a command to its end and returns the text of its toasts.
func told(m *Model, cmd tea.Cmd) string {
	var out []string
	var run func(tea.Cmd)
	run = func(c tea.Cmd) {
		if c == nil {
			return
		}
		switch msg := c().(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				run(c)
			}
		case screen.ToastMsg:
			out = append(out, msg.Text)
		case nil:
		default:
			run(m.Update(msg))
		}
	}
	run(cmd)
	return strings.Join(out, "\n")
}

func TestB2_AChangedAssetIsToldAtTheStartAndAcceptedOnlyByAPerson(t *testing.T) {
	l := &lister{changes: []verify.AssetChange{
		{ID: "ob:usdc", Was: &verify.SeenAsset{Symbol: "USDC", Decimals: 6},
			Is: &verify.SeenAsset{Symbol: "USDC", Decimals: 8}, Pinned: true},
		{ID: "ob:novel", Was: &verify.SeenAsset{Symbol: "NOVEL", Decimals: 6},
			Is: &verify.SeenAsset{Symbol: "NOVEL", Decimals: 18}},
	}}
	m := New(tuitest.Context(t), l.deps())
	defer m.Close()
	m.Update(screen.ResizedMsg{W: 120, H: 60})
	if said := told(m, m.Init()); !strings.Contains(said, "2 assets of the service are not what this wallet knows") {
		t.Errorf("%q", said)
	}
	text := tuitest.Text(t, m, 120, 60)
	for _, want := range []string{"ob:usdc was USDC, 6 decimals", "is USDC, 8 decimals", "cannot be accepted",
		"ob:novel was NOVEL, 6 decimals", "until you accept it (A)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	tuitest.Keys(m, "A")
	if text := tuitest.Text(t, m, 120, 60); !m.Capturing() ||
		strings.Contains(strings.Split(text, "Trust as it is now listed")[1], "ob:usdc was") &&
			len(m.acceptable()) != 1 {
		t.Errorf("%s", text)
	}
	if said := told(m, tuitest.Keys(m, "enter")); !strings.Contains(said, "accepted as it is now listed: ob:novel") ||
		len(l.accepted) != 1 || l.accepted[0] != "ob:novel" {
		t.Errorf("%q %v", said, l.accepted)
	}
	if text := tuitest.Text(t, m, 120, 60); strings.Contains(text, "ob:novel") {
		t.Errorf("%s", text)
	}
}

func TestB2_ListsThatCouldNotBeReadAreUnknownAndNotGood(t *testing.T) {
	l := &lister{err: errors.New("no route to host")}
	m := New(tuitest.Context(t), l.deps())
	defer m.Close()
	m.Update(screen.ResizedMsg{W: 80, H: 60})
	if said := told(m, m.Init()); said != "" {
		t.Errorf("%q", said)
	}
	if text := tuitest.Text(t, m, 80, 60); !strings.Contains(text, "? not compared: no route to host") {
		t.Errorf("%s", text)
	}
	l.err = nil
	told(m, tuitest.Keys(m, "r"))
	if text := tuitest.Text(t, m, 80, 60); !strings.Contains(text, "✓ 1 asset is what this program ships") {
		t.Errorf("%s", text)
	}
}
