package history

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

const solUSDC = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

// viewed is what the screen shows, without styles.
func viewed(m *Model) string {
	f := screen.Frame{W: 120, H: 35, Theme: theme.New(true, colorprofile.ASCII, false), Now: tuitest.Now()}
	return ansi.Strip(m.View(f))
}

// withSeen are records of a service with what own nodes saw among them, and a row that says that they were asked in
// vain.
func withSeen() *service {
	s := records(3)
	signature := strings.Repeat("5", 88)
	seen := api.HistoryRecord{QuoteID: present.SeenID(signature, 0), Status: present.StatusSeen,
		Type: present.TypeReceived, FailReason: "slot 417", User: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
		Timestamp:        tuitest.Now().Add(-time.Minute).Format(time.RFC3339),
		DestinationToken: api.DestinationToken{AssetType: solUSDC, Amount: "25000000", AggregatedAssetID: "ob:usdc"},
		DestinationChainOperations: []api.OperationRef{{Hash: signature,
			Chain: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", ExplorerURL: "https://solscan.io/tx/" + signature}}}
	sent := seen
	sent.QuoteID, sent.Type, sent.DestinationChainOperations = present.SeenID(signature, 1), present.TypeSent, nil
	sent.DestinationToken, sent.FailReason = api.DestinationToken{Amount: "0"}, "slot 417, fee 0.000005 SOL"
	sent.OriginToken = api.OriginToken{AssetType: []string{"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501"},
		Amount: "1500000000"}
	unread := api.HistoryRecord{QuoteID: present.UnreadID, Status: present.StatusUnread,
		FailReason: "What others did on Solana is not known: your nodes do not agree."}
	s.records = append([]api.HistoryRecord{unread, seen, sent}, s.records...)
	return s
}

// What own nodes saw stands in the list with what moved and who saw it; nodes in trouble make a row of words. Neither
// is taken for something unfinished, counted in the totals, or looked up as a quote.
func TestWhatOwnNodesSawIsToldApart(t *testing.T) {
	s := withSeen()
	m := opened(t, s, 120, 35)
	body := viewed(m)
	for _, words := range []string{"your nodes do not agree", "received 25 USDC", "sent 1.5 SOL", "node saw it"} {
		if !strings.Contains(body, words) {
			t.Errorf("%q is missing in\n%s", words, body)
		}
	}
	if strings.Contains(body, "unknown: SEEN") {
		t.Error(body)
	}
	pressed(m, "down", "enter")
	body = viewed(m)
	for _, words := range []string{"25000000 base units", "seen by your node", "slot 417",
		"Your node saw it on the chain", "Transaction on Solana"} {
		if !strings.Contains(body, words) {
			t.Errorf("%q is missing in\n%s", words, body)
		}
	}
	for _, words := range []string{"quote id", "fees  ", "seen:"} {
		if strings.Contains(body, words) {
			t.Errorf("%q is said in\n%s", words, body)
		}
	}
	for _, r := range m.records() {
		if r.seen() && (!r.final() || r.success()) {
			t.Errorf("%+v", r)
		}
	}
	for text, n := range map[string]int{"status:seen": 2, "type:received": 1, "type:sent": 1, "status:unknown": 0,
		"asset:usdc chain:solana": 1} {
		m.useFilter(text)
		found := 0
		for _, r := range m.records() {
			if r.seen() && !r.unread() {
				found++
			}
		}
		if found != n || len(m.query.mistakes) > 0 {
			t.Errorf("%s: %d, want %d: %v", text, found, n, m.query.mistakes)
		}
	}
	for _, r := range m.book.newest() {
		if r.unread() {
			t.Error("it is kept between starts that nodes were asked in vain")
		}
	}
}

// When the nodes answer again, the row of words goes with the next reading.
func TestTheRowOfWordsGoesWhenNodesAnswer(t *testing.T) {
	s := withSeen()
	m := opened(t, s, 120, 35)
	s.records = s.records[1:]
	settle(m, m.refresh())
	if body := viewed(m); strings.Contains(body, "do not agree") || !strings.Contains(body, "received 25 USDC") {
		t.Error(body)
	}
}
