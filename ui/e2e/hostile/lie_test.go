//go:build unix

package hostile

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/e2e/rig"
)

// balanceLiar hides what an account holds on a chain: it drops the asset from the balances of a prepared answer, and
// has an honest service quote the call as if it needed that much more. So the payments that it asks for are genuine,
// and every document that goes back is the service's own again.
type balanceLiar struct {
	testing.TB
	asset    string   // CAIP-19, in any case of letters
	held     *big.Int // what is hidden
	needs    string   // what the call needs, in base units
	pays     string   // the amount of the operation that the service prepared
	lied     int
	prepared int
}

// lies puts a balanceLiar between a wallet and its service.
func lies(t testing.TB, b *rig.Between, asset string, held *big.Int) *balanceLiar {
	l := &balanceLiar{TB: t, asset: asset, held: held}
	b.Behaves(l.answer)
	b.With(func() { b.Recast = l.request })
	return l
}

// edit replaces a value; one that is not there stays away.
func (l *balanceLiar) edit(text []byte, pointer string, change func(old string) string) []byte {
	return rig.Splice(text, rig.Attack{Pointer: pointer, Change: change})
}

// request asks the service for more than the wallet did, and gives it back its own documents.
func (l *balanceLiar) request(r rig.Request) []byte {
	switch r.Path {
	case rig.PathPrepare:
		return l.edit(r.Body, "/tokensRequired/0/amount", func(old string) string {
			l.needs = strings.Trim(old, `"`)
			v, ok := new(big.Int).SetString(l.needs, 10)
			if !ok {
				l.Errorf("the call needs %s", old)
				return old
			}
			return `"` + v.Add(v, l.held).String() + `"`
		})
	case rig.PathCallQuote:
		return l.edit(r.Body, "/chainOperation/amount", rig.To(l.pays))
	case rig.PathExecute:
		return l.edit(l.edit(r.Body, "/destinationToken/amount", l.more), "/destinationToken/minimumAmount", l.more)
	}
	return r.Body
}

// answer hides the balance, and what was asked for beyond the wallet's request.
func (l *balanceLiar) answer(r rig.Request, status int, answer []byte) (int, []byte) {
	switch {
	case status/100 != 2:
	case r.Path == rig.PathPrepare:
		l.prepared++
		answer = l.edit(answer, "/chainOperation/amount",
			func(old string) string { l.pays = old; return `"` + l.needs + `"` })
		answer = l.edit(answer, "/sourceAssetBalances", l.without)
	case r.Path == rig.PathCallQuote:
		l.lied++
		answer = l.edit(answer, "/destinationToken/amount", func(string) string { return `"` + l.needs + `"` })
		answer = l.edit(answer, "/destinationToken/minimumAmount", func(string) string { return `"` + l.needs + `"` })
	}
	return status, answer
}

func (l *balanceLiar) more(old string) string {
	v, ok := new(big.Int).SetString(strings.Trim(old, `"`), 10)
	if !ok {
		return old
	}
	return `"` + v.Add(v, l.held).String() + `"`
}

// without drops the asset from a list of balances.
func (l *balanceLiar) without(list string) string {
	var all []api.SourceAssetBalance
	if err := json.Unmarshal([]byte(list), &all); err != nil {
		l.Error(err)
		return list
	}
	entry := regexp.MustCompile(`(?i)\{[^{}]*"` + regexp.QuoteMeta(l.asset) + `"[^{}]*\},?`)
	out := strings.ReplaceAll(entry.ReplaceAllString(list, ""), ",]", "]")
	if out == list {
		l.Errorf("%s is not among the balances: %s", l.asset, list)
	}
	return out
}

// balancesIn reads the balances of a prepared answer.
func balancesIn(t *testing.T, answer string) map[string]*big.Int {
	t.Helper()
	var p struct {
		SourceAssetBalances []api.SourceAssetBalance `json:"sourceAssetBalances"`
	}
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	out := map[string]*big.Int{}
	for _, b := range p.SourceAssetBalances {
		v, ok := new(big.Int).SetString(b.Balance, 10)
		if !ok {
			t.Fatalf("a balance of %s", b.Balance)
		}
		out[strings.ToLower(b.AssetType)] = v
	}
	return out
}

// richest is the asset of the greatest balance.
func richest(all map[string]*big.Int) (asset string) {
	for a, v := range all {
		if asset == "" || v.Cmp(all[asset]) > 0 {
			asset = a
		}
	}
	return asset
}

// TestK1_AHiddenBalanceIsCountedTwiceAndStopsYes: the account holds enough on a chain for a transfer of 50 there; the
// service hides that and asks for a deposit elsewhere. A plan that may spend $60 is refused, --yes stops at the
// contradiction, and who accepts it has read the sum of both.
func TestK1_AHiddenBalanceIsCountedTwiceAndStopsYes(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	s.Runs(0, rig.Pays(t, "call", "--dry-run")...) // to learn where the account holds how much
	s.Runs(0, "balances")                          // the wallet notes what the service states; a dry run notes nothing
	held := balancesIn(t, b.Heard(rig.PathPrepare))
	asset := richest(held)
	chain, _, _ := strings.Cut(asset, "/")
	call := func(command string, more ...string) []string {
		return append([]string{command, "--chain", chain, "--to", "usdc", "--function",
			"transfer(address to, uint256 amount)", "--arg", rig.Payee(t), "--arg", "50 USDC"}, more...)
	}
	file := t.TempDir() + "/pay.toml"
	s.Runs(0, call("plan", "--max-spend", "60", "--out", file)...)
	if out, _ := s.Runs(0, call("call", "--dry-run")...); !strings.Contains(out, "There is no second review") {
		t.Fatalf("what is there is not enough:\n%s", out)
	}
	l := lies(t, b, asset, held[asset])
	signed := func() int { return len(b.Saw(rig.PathCallQuote)) }
	if _, errs := s.Runs(4, "apply", file, "--yes", "--accept", "V4,Q11,P6"); !strings.Contains(errs, "Y4") ||
		signed() != 0 {
		t.Errorf("%d signed operations were sent\n%s", signed(), errs)
	}
	_, errs := s.Runs(4, call("call", "--yes", "--accept", "V4,Q11")...)
	if !regexp.MustCompile(`(?s)WARN P6.*found +0 USDC on `).MatchString(errs) ||
		!strings.Contains(errs, "as it said at") || !strings.Contains(errs, "--accept P6") || signed() != 0 {
		t.Errorf("%d signed operations were sent\n%s", signed(), errs)
	}
	_, errs = s.Runs(0, call("call", "--yes", "--accept", "V4,Q11,P6")...)
	worst := regexp.MustCompile(`Warning: If the stated balances are false, up to ([0-9.]+) USDC`).
		FindStringSubmatch(errs)
	if worst == nil || !strings.HasPrefix(worst[1], "100.") {
		t.Errorf("the review does not say the sum of both:\n%s", errs)
	}
	if l.prepared != 3 || l.lied != 1 || len(b.Saw(rig.PathExecute)) != 1 {
		t.Errorf("prepared %d times, lied in %d quotes, executed %d", l.prepared, l.lied, len(b.Saw(rig.PathExecute)))
	}
}

// TestK1_TerminalTheReviewsShowAHiddenBalance: in the dashboard review 1 names both balances, and review 2 states the
// sum that leaves if they are a lie.
func TestK1_TerminalTheReviewsShowAHiddenBalance(t *testing.T) {
	t.Parallel()
	const usdcBase = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	env, b := rig.Team(t, "--lifetime", "60s")
	rig.Script{T: t, Env: env, Pass: rig.Passphrase}.Runs(0, rig.Pays(t, "call", "--dry-run")...)
	l := lies(t, b, usdcBase, balancesIn(t, b.Heard(rig.PathPrepare))[usdcBase])
	p := rig.Opens(t, env, 120, 60)
	p.Builds()
	p.Sees("Review 1 of 2", "y sign", "states a lower balance than before")
	p.Types("c")
	p.Sees("P6", "25 USDC on Base, as it said at", "0 USDC on Base")
	p.Types("\x1b")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives", "If the stated balances are false, up to")
	screen := strings.ReplaceAll(strings.Join(strings.Fields(p.Term.Screen()), " "), ",", "")
	gets := regexp.MustCompile(`Send ([0-9.]+) USDC to Demo payee`).FindStringSubmatch(screen)
	worst := regexp.MustCompile(`balances are false up to ([0-9.]+) USDC`).FindStringSubmatch(screen)
	if gets == nil || worst == nil {
		t.Fatalf("no payee or no worst case:\n%s", p.Term.Screen())
	}
	call, _ := new(big.Float).SetString(gets[1])
	all, _ := new(big.Float).SetString(worst[1])
	if all.Cmp(new(big.Float).Add(call, call)) <= 0 {
		t.Errorf("the call pays %s, the worst case is %s: the payments and the call are not both counted", gets[1],
			worst[1])
	}
	if l.lied == 0 || len(b.Saw(rig.PathExecute)) != 0 {
		t.Errorf("%d lies, executed %d times", l.lied, len(b.Saw(rig.PathExecute)))
	}
}
