//go:build unix

package nodes

import (
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/rpcpool/faultproxy"
	"coffer/ui/e2e/rig"
)

// feed is the code of a price feed whose newest round says one dollar with 8 decimals and is so old in seconds.
func feed(age string) string {
	return "0x5f3560e01c8063313ce56714601b5763feaf968c146024575f5ffd" + // decimals(), latestRoundData()
		"5b60085f5260205ff3" + "5b60015f52" + "6305f5e100602052" + "42604052" + "61" + age + "4203606052" +
		"60016080" + "5260a05ff3"
}

// A price that is fresh is shown by a command that asks for it right after the start, though the way to the node is
// long. One that is older than the heartbeat of its feed, or whose feed is gone, is none: the worth is unknown.
func TestAPriceThatIsStaleOrMissingIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base)
	at := common.HexToAddress("0xfeed000000000000000000000000000000000001")
	w.ask(base, nil, "anvil_setCode", at, feed("0000"))
	far := faultproxy.New(through(t, w.url[base]), 1)
	t.Cleanup(far.Close)
	file := w.names(func(string) []string { return []string{far.URL} })
	w.edits(file, "feeds = [\n", `feeds = [
  { aggregate = "ob:usdc", address = "`+at.Hex()+`", heartbeat = "1h", decimals = 8 },
`)
	p := w.person(file)
	far.Script(faultproxy.Rule{Fault: faultproxy.Delay(100 * time.Millisecond)})
	shows := func(worth string) {
		t.Helper()
		out, _ := rig.Script{T: t, Env: w.env}.Runs(0, "balances", "--account", "daily")
		if !strings.Contains(out, worth) || strings.Contains(out, "$") != (worth != "unknown") {
			t.Errorf("not %s:\n%s", worth, out)
		}
	}
	shows("$1,000.00")
	p.paysOnce(1)
	shows("$998.00")
	for _, code := range []string{feed("2328"), "0x"} { // 9000 s old, and nothing there
		w.ask(base, nil, "anvil_setCode", at, code)
		shows("unknown")
	}
}
