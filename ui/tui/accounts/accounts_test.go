package accounts

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
)

func sample(t *testing.T) *Model {
	ctx := tuitest.Context(t)
	ctx.Accounts = append(ctx.Accounts,
		api.Account{Type: api.AccountRoleBased, AccountAddress: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", SessionAddress: tuitest.Signer, AdminAddress: "0x00c071db63c5c4bd094c6cc715fd1d622d6fd5a6"},
		api.Account{Type: api.AccountSolana, AccountAddress: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKqZKvdpAbCd"})
	return New(ctx)
}

func TestGoldenScreens(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		t.Run(size.name, func(t *testing.T) {
			m := sample(t)
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
		t.Run("last account "+size.name, func(t *testing.T) {
			m := sample(t)
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			tuitest.Keys(m, "down", "down", "down")
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
	}
}

func TestCopiesTheSelectedAccountChecksummed(t *testing.T) {
	m := sample(t)
	if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != tuitest.Account {
		t.Errorf("copied %q", msg.Text)
	}
	if msg := tuitest.Keys(m, "down", "Y")().(screen.CopyMsg); msg.Text != tuitest.Signer || msg.What != "session address" {
		t.Errorf("copied %q as %q", msg.Text, msg.What)
	}
	if msg := tuitest.Keys(m, "n")().(screen.CopyMsg); msg.Text != m.ctx.Network.ID {
		t.Errorf("copied %q", msg.Text)
	}
}

func TestUnknownKindOfNetworkIsRealMoney(t *testing.T) {
	m := sample(t)
	m.ctx.Network.Kind = network.Kind("toy")
	if text := tuitest.Text(t, m, 120, 40); !strings.Contains(text, "treat it as real money") {
		t.Error(text)
	}
}

func TestProfileWithoutAccountsRefusesCopying(t *testing.T) {
	ctx := tuitest.Context(t)
	ctx.Accounts = nil
	m := New(ctx)
	for _, k := range m.Keys() {
		if k.Match("y") && k.Off == "" {
			t.Error("y works without an account")
		}
	}
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "has no account yet") {
		t.Error(text)
	}
}
