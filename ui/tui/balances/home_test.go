package balances

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// past is what history tells of n records of which the first left value dollars.
func past(n int, value int64) screen.PastMsg {
	deed := func(show func(string) string, arrow string) string {
		return show("225.5 USDC") + " " + arrow + " Demo payee"
	}
	msg := screen.PastMsg{Whole: true}
	for i := range n {
		msg.Records = append(msg.Records, screen.Past{At: tuitest.Now().Add(-time.Duration(i) * 97 * time.Minute),
			Paid: "ob:usdc", Got: "ob:usdc", Deed: deed,
			Status: present.State{Word: []string{"completed", "refunded"}[i%2], Meaning: []theme.Meaning{theme.Good,
				theme.Warn}[i%2]}})
	}
	if n > 0 {
		msg.Records[0].Left, msg.Records[0].Value = true, big.NewInt(value*1_000_000)
	}
	return msg
}

// The four sizes that screens are drawn for, without the lines of the shell.
func sizes() map[string][2]int {
	return map[string][2]int{"60x20": {60, 15}, "80x24": {80, 19}, "120x40": {120, 35}, "200x60": {200, 55}}
}

func TestGoldenHome(t *testing.T) {
	for name, size := range sizes() {
		t.Run("first start "+name, func(t *testing.T) {
			m := loaded(t, twoAccounts(t), &source{b: withSolana(t)})
			m.Update(screen.ResizedMsg{W: size[0], H: size[1]})
			m.Update(past(0, 0))
			golden.RequireEqual(t, tuitest.Text(t, m, size[0], size[1]))
		})
		t.Run("daily use "+name, func(t *testing.T) {
			b := newBench(t)
			b.m.Update(screen.ResizedMsg{W: size[0], H: size[1]})
			b.begin()
			for i := range int64(140) {
				b.src.b = worth(b.src.b, 4000+i*10)
				b.read(10 * time.Minute)
			}
			b.m.Update(past(30, 10))
			b.m.Update(screen.UnderWayMsg{
				Operations: []screen.UnderWay{{Since: b.clock.now, What: "transfer on Base",
					Progress: "payments: 1 of 2, now Arbitrum One"}},
				Open: []present.Signature{{Ends: b.clock.now.Add(time.Hour), Until: b.clock.now.Add(time.Minute)}},
			})
			golden.RequireEqual(t, b.text(size[0], size[1]))
		})
	}
}

func TestD13TheCardStaysUntilTheFirstPayment(t *testing.T) {
	for name, size := range sizes() {
		for kind, want := range map[network.Kind]string{network.Embedded: "This is play money.",
			network.Lab: "no real money", network.Real: "This is real money."} {
			ctx := tuitest.Context(t)
			ctx.Network.Kind = kind
			m := loaded(t, ctx, &source{b: tuitest.Balances(t)})
			m.Update(screen.ResizedMsg{W: size[0], H: size[1]})
			shows := func() bool {
				text := tuitest.Text(t, m, size[0], size[1])
				if embedded := kind == network.Embedded; strings.Contains(text, want) && (strings.Contains(text,
					"play money") != embedded || strings.Contains(text, "2 d") != embedded) {
					t.Errorf("%s: the card is not that of %s:\n%s", name, kind, text)
				}
				return strings.Contains(text, want)
			}
			if shows() {
				t.Errorf("%s, %s: a card before anything is known", name, kind)
			}
			if m.Update(past(0, 0)); !shows() {
				t.Errorf("%s, %s: no card:\n%s", name, kind, tuitest.Text(t, m, size[0], size[1]))
			}
			m.Update(screen.UnderWayMsg{Operations: []screen.UnderWay{{What: "transfer on Base"}}})
			if shows() {
				t.Errorf("%s, %s: the card stays while a payment is under way", name, kind)
			}
			m.Update(screen.UnderWayMsg{})
			if m.Update(past(1, 0)); shows() {
				t.Errorf("%s, %s: the card stays after the first payment", name, kind)
			}
		}
	}
}

// Until something happened there is nothing for a pane of its own: a wide window has the details beside the lines, and
// an address is in one line of them.
func TestD12APaneOfWhatHappenedComesWithTheFirstPayment(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: tuitest.Balances(t)})
	m.Update(screen.ResizedMsg{W: 200, H: 55})
	at := func() (beside bool, address bool) {
		text := tuitest.Text(t, m, 200, 55)
		title, _, _ := strings.Cut(text, "\n")
		return strings.Contains(title, "Recent"),
			strings.Contains(text, "0x8335 89fC D6eD b6E0 8f4c 7C32 D4f7 1b54 bdA0 2913")
	}
	m.Update(past(0, 0))
	if beside, address := at(); beside || !address || !strings.Contains(tuitest.Text(t, m, 200, 55), "Nothing yet.") {
		t.Errorf("an empty pane, a cut address or no word of it:\n%s", tuitest.Text(t, m, 200, 55))
	}
	m.Update(past(1, 0))
	if beside, address := at(); !beside || !address {
		t.Errorf("no pane of what happened, or a cut address:\n%s", tuitest.Text(t, m, 200, 55))
	}
}

// On own nodes nothing is swapped and nothing crosses chains; what has to be done first is to fill the gas tank.
func TestD13TheCardOfOwnNodesNamesTheGasTank(t *testing.T) {
	for name, size := range sizes() {
		ctx := tuitest.Context(t)
		ctx.Network.Version, ctx.Network.Kind, ctx.Network.Deployments = network.Version, network.Test, nil
		ctx.Network.Pins = network.Pins{Paymaster: network.Window(), Operator: common.Address{7}}
		m := loaded(t, ctx, &source{b: tuitest.Balances(t)})
		m.Update(screen.ResizedMsg{W: size[0], H: size[1]})
		m.Update(past(0, 0))
		text := tuitest.Text(t, m, size[0], size[1])
		if !strings.Contains(text, ctx.Network.Pins.Operator.Hex()) || strings.Contains(text, "any chain") ||
			strings.Contains(text, "w     swap") {
			t.Errorf("%s:\n%s", name, text)
		}
		if tuitest.Keys(m, "j"); m.build("t") == nil || m.build("w") != nil {
			t.Errorf("%s: a swap is begun", name)
		}
	}
}

func TestD12EveryPaneCanBeScrolledAndTheDetailsFollow(t *testing.T) {
	m := loaded(t, twoAccounts(t), &source{b: withSolana(t)})
	m.Update(screen.ResizedMsg{W: 200, H: 6})
	m.Update(past(30, 0))
	text := func() string { return tuitest.Text(t, m, 200, 6) }
	if !strings.Contains(text(), "USDC   USD Coin") {
		t.Fatalf("no details:\n%s", text())
	}
	tuitest.Keys(m, "j")
	if !strings.Contains(text(), "USDC   USD Coin") {
		t.Error("details do not wait until the selection holds still")
	}
	if m.Update(stillMsg{m.moves}); !strings.Contains(text(), "ETH   Ether") {
		t.Errorf("the details are not those of the selected line:\n%s", text())
	}
	m.Update(screen.ResizedMsg{W: 80, H: 6})
	tuitest.Keys(m, "k")
	if m.Update(screen.ResizedMsg{W: 200, H: 6}); !strings.Contains(text(), "USDC   USD Coin") {
		t.Errorf("the details do not follow a selection that was made without them:\n%s", text())
	}
	tuitest.Keys(m, "j")
	m.Update(stillMsg{m.moves})
	before := text()
	for _, pane := range []string{"details", "what happened"} {
		tuitest.Keys(m, "tab")
		was := text()
		if tuitest.Keys(m, "j"); text() == was || m.table.Selected() != 1 {
			t.Errorf("%s: j does not scroll:\n%s", pane, text())
		}
		tuitest.Keys(m, "k")
	}
	if tuitest.Keys(m, "tab"); text() != before {
		t.Errorf("three tabs do not lead back:\n%s", text())
	}
}

func TestD15ThePastOfTheTotalLeavesOwnPaymentsOut(t *testing.T) {
	b := newBench(t)
	b.src.b = worth(b.src.b, 1000)
	b.begin()
	for range 10 {
		b.read(10 * time.Minute)
	}
	paid := b.clock.now.Add(time.Minute)
	b.src.b = worth(b.src.b, 700)
	b.read(10 * time.Minute)
	text := func() string { return b.text(120, 35) }
	if got := text(); !strings.Contains(got, "-7.3 %") || !strings.Contains(got, "your payments are in it") {
		t.Fatalf("before history is known:\n%s", got)
	}
	msg := past(1, 300)
	msg.Records[0].At = paid
	b.m.Update(msg)
	if got := text(); !strings.Contains(got, " 0.0 %") || !strings.Contains(got, "your payments left out") {
		t.Errorf("a payment of 300 counts as a loss:\n%s", got)
	}
	msg.Records[0].Left = false
	if b.m.Update(msg); !strings.Contains(text(), "-7.3 %") {
		t.Errorf("a payment to an own account is left out:\n%s", text())
	}
	msg.Records[0].Left, msg.Records[0].Value = true, nil
	if b.m.Update(msg); !strings.Contains(text(), "1 payment without a value is in it") {
		t.Errorf("a payment that cannot be left out is not named:\n%s", text())
	}
	msg.Records[0].Value, msg.Whole = big.NewInt(300_000_000), false
	if b.m.Update(msg); !strings.Contains(text(), "payments before "+paid.Format("02 Jan 15:04")+" are in it") {
		t.Errorf("payments that were not read are not named:\n%s", text())
	}
}
