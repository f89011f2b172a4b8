package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/signers"
)

// bends puts a node before that of a chain which answers some calls otherwise: bend returns a result or an error as
// JSON, or "" to pass the call on.
func (w *world) bends(chain int, bend func(method, params string) (result, fault string)) {
	w.Helper()
	behind := w.file.Chains[chain].RPC[0]
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		calls := []jsontext.Value{raw}
		many := bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
		if many {
			_ = json.Unmarshal(raw, &calls)
		}
		answers := make([]string, len(calls))
		for i, call := range calls {
			var c struct {
				ID     uint64         `json:"id"`
				Method string         `json:"method"`
				Params jsontext.Value `json:"params"`
			}
			_ = json.Unmarshal(call, &c)
			switch result, fault := bend(c.Method, string(c.Params)); {
			case result != "":
				answers[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, c.ID, result)
			case fault != "":
				answers[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":%s}`, c.ID, fault)
			default:
				res, err := http.Post(behind, "application/json", bytes.NewReader(call))
				if err != nil {
					out.WriteHeader(http.StatusBadGateway)
					return
				}
				body, _ := io.ReadAll(res.Body)
				_ = res.Body.Close()
				answers[i] = string(body)
			}
		}
		answer := strings.Join(answers, ",")
		if many {
			answer = "[" + answer + "]"
		}
		out.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(out, answer)
	}))
	w.Cleanup(s.Close)
	w.file.Chains[chain].RPC = []string{s.URL}
}

// only leaves the first chains of the file.
func (w *world) only(n int) *world {
	w.file.Chains = w.file.Chains[:n]
	return w.write()
}

// word is a number as a word of an answer.
func word(v int64) string { return common.Bytes2Hex(common.BigToHash(big.NewInt(v)).Bytes()) }

// What nodes and chains of others lack is named, each with what is off because of it.
func TestCheckNamesWhatIsOff(t *testing.T) {
	w := embedded(t).only(1)
	if _, err := w.deploys(false); err != nil {
		t.Fatal(err)
	}
	const absent, invalid = `{"code":-32601,"message":"the method does not exist"}`,
		`{"code":-32000,"message":"invalid opcode"}`
	feeds := map[string]int64{} // price feeds by the end of their address, and how old their answers are
	for i, age := range []int64{100, 3700, 0, 0} {
		at := common.Address{19: byte(0xa0 + i)}
		feeds[strings.ToLower(at.Hex())] = age
		decimals := 8
		if i == 2 {
			decimals = 18
		}
		w.file.Chains[0].Feeds = append(w.file.Chains[0].Feeds, networks.Feed{Address: at, Decimals: decimals,
			Heartbeat: time.Hour, Aggregate: []networks.Token{{Aggregate: "ob:eth"}, {Aggregate: "ob:usdc"},
				{Aggregate: "ob:usdt"}, {Aggregate: "ob:dai"}}[i].Aggregate})
	}
	w.file.Chains[0].Final = networks.Finality{}
	usdc := strings.ToLower(w.file.Chains[0].Tokens[0].Address.Hex())
	w.bends(0, func(method, params string) (string, string) {
		switch {
		case method == "eth_getBlockByNumber" && strings.Contains(params, "finalized"):
			return "null", ""
		case method == "eth_simulateV1", method == "eth_createAccessList":
			return "", absent
		case method == "eth_call" && strings.Contains(params, common.Bytes2Hex(usesTransient)):
			return "", invalid
		case method == "eth_call" && strings.Contains(params, common.Bytes2Hex(usesMcopy)):
			return "", invalid
		case method == "eth_call" && strings.Contains(params, "0xef0100"):
			return "", `{"code":-32602,"message":"too many arguments, want at most 2"}`
		case method == "eth_call" && strings.Contains(params, usdc) && strings.Contains(params, "0x313ce567"):
			return `"0x` + word(18) + `"`, ""
		case method == "eth_getCode" && strings.Contains(strings.ToLower(params), "0xbac849bb"): // Kernel v3.1
			return `"0x"`, ""
		}
		for at, age := range feeds {
			switch {
			case !strings.Contains(params, at):
			case strings.Contains(params, "0x313ce567"):
				return `"0x` + word(8) + `"`, ""
			case strings.HasSuffix(at, "a3"): // no price
				return `"0x` + word(1) + word(0) + word(1) + word(time.Now().Unix()) + word(1) + `"`, ""
			default:
				return `"0x` + word(1) + word(3e11) + word(1) + word(time.Now().Unix()-age) + word(1) + `"`, ""
			}
		}
		return "", ""
	})
	w.write()
	var incomplete *IncompleteError
	if err := Check(t.Context(), w.options()); !errors.As(err, &incomplete) || incomplete.Things != 4 {
		t.Error(err)
	}
	says(t, w.out.String(), "MISSING final blocks the node names none (the node does not have it): count blocks",
		"without transient storage the chain does not have it (invalid opcode); no operator can pay",
		"MISSING MCOPY the chain does not have it", "ok EIP-7702 blocks are of a fork that has it",
		"without eth_simulateV1 the node does not offer it", "without eth_createAccessList",
		"MISSING token USDC "+w.file.Path+":", "it has 18 decimals, the file says 6",
		"without KernelV31 no code at 0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D; no accounts kernel-v3.1-ecdsa and "+
			"role-based",
		"without feed of ob:usdc", "more than the heartbeat 1h0m0s; ob:usdc has no price from here",
		"MISSING feed of ob:usdt", "it has 8 decimals, the file says 18", "without feed of ob:dai",
		"it answers no price", "ok feeds 1 of 4 are fresh")
}

// A public chain whose newest block is old is out of step; a lab may rest.
func TestCheckSaysWhenANodeIsBehind(t *testing.T) {
	w := embedded(t).only(1)
	if _, err := w.deploys(false); err != nil {
		t.Fatal(err)
	}
	w.file.Chains[0].Final.Blocks = 1
	for kind, good := range map[network.Kind]bool{network.Lab: true, network.Real: false, network.Test: false} {
		w.file.Kind = kind
		w.write()
		o := w.options()
		o.Clock = func() time.Time { return time.Now().Add(time.Hour) }
		if err := Check(t.Context(), o); (err == nil) != good {
			t.Errorf("%s: %v\n%s", kind, err, &w.out)
		}
	}
}

// Before the first transaction everything is known: the fee, the funds on every chain, and the person's word.
func TestDeployStopsBeforeItSends(t *testing.T) {
	w := embedded(t).only(2)
	stopped := errors.New("not now")
	options := DeployOptions{Options: w.options(),
		Signer:  func(context.Context) (signers.EVM, error) { return counting{payer(t), w}, nil },
		Confirm: func(context.Context, string) error { return stopped }}
	if err := Deploy(t.Context(), options); !errors.Is(err, stopped) {
		t.Error("not asked:", err)
	}
	w.bends(1, func(method, _ string) (string, string) {
		if method == "eth_getBalance" {
			return `"0x1"`, ""
		}
		return "", ""
	})
	w.write()
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), "0.000000000000000001 ETH") ||
		!strings.Contains(err.Error(), "nothing was sent") {
		t.Error("without funds:", err)
	}
	w.file.Chains[0].FeeCap = big.NewInt(1)
	w.write()
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), "fee_cap_gwei is 0.000000001") {
		t.Error("above the cap:", err)
	}
	if w.sent > 0 {
		t.Errorf("%d transactions", w.sent)
	}
}

// A run that ended between two transactions is finished by the next one, which sends only what is missing.
func TestDeployGoesOnWhereItEnded(t *testing.T) {
	w := embedded(t).only(1)
	ctx, stop := context.WithCancel(t.Context())
	err := Deploy(ctx, DeployOptions{Options: w.options(), Signer: func(context.Context) (signers.EVM, error) {
		return ending{counting{payer(t), w}, stop}, nil
	}})
	if err == nil || w.sent != 2 {
		t.Fatalf("%d signed, %v", w.sent, err)
	}
	if out, err := w.deploys(false); err != nil || w.sent != 3 {
		t.Errorf("%d signed, %v\n%s", w.sent, err, out)
	}
	w.hasEverything()
}

// ending ends the run with the second signature.
type ending struct {
	counting
	stop func()
}

func (e ending) SignTx(ctx context.Context, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	if e.w.sent == 1 {
		e.stop()
	}
	return e.counting.SignTx(ctx, tx, id)
}

// Adding a chain leaves the network what it is; taking one away, another kind, or another first block is another one.
func TestTheNetworkStaysWhatItIs(t *testing.T) {
	w := embedded(t)
	all := w.file.Chains
	w.only(2)
	if _, err := w.deploys(false); err != nil {
		t.Fatal(err)
	}
	first := w.descriptor()
	w.file.Chains = all[:3]
	w.write()
	if _, err := w.deploys(false); err != nil {
		t.Fatal(err)
	}
	if d := w.descriptor(); d.ID != first.ID || len(d.Chains) != 3 || len(d.Added) != 1 ||
		d.Fingerprint() == first.Fingerprint() {
		t.Errorf("%+v", d)
	}
	w.only(1)
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), "does not have any more") {
		t.Error("a chain less:", err)
	}
	w.file.Chains, w.file.Kind = all[:3], network.Test
	w.write()
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), `it is "lab", the file says "test"`) {
		t.Error("another kind:", err)
	}
	w.file.Kind = network.Lab
	w.bends(0, func(method, params string) (string, string) {
		if method == "eth_getBlockByNumber" && strings.Contains(params, `"0x0"`) {
			return `{"number":"0x0","hash":"0x` + strings.Repeat("ab", 32) + `","timestamp":"0x0"}`, ""
		}
		return "", ""
	})
	w.write()
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), "begins with the block") {
		t.Error("another first block:", err)
	}
	path := filepath.Join(filepath.Dir(w.file.Path), networks.Descriptor)
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), path) {
		t.Error("a damaged descriptor:", err)
	}
}
