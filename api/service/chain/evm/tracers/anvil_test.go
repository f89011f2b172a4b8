package tracers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store"
)

var (
	anvilProgram = flag.String("anvil", "", "compare with this anvil, a path")
	seed         = flag.Uint64("seed", 1, "the seed of what is sent to both nodes")
	transactions = flag.Int("transactions", 2000, "how many transactions are sent to both nodes")
)

const (
	timeOfGenesis = 1_800_000_000
	gasOfBlock    = evm.GasLimit
	mostShown     = 25
)

// difference is a row of the two tables.
type difference struct {
	method, field string // of notCompared; calls.x is field x of every call in a trace below the top one
	ours, anvil   string // of wording
	rare          bool   // not every seed comes to it
	why           string
}

func (d difference) String() string {
	return "known: " + strings.TrimSpace(d.method+" "+d.field+d.ours+" | "+d.anvil) + ": " + d.why
}

func TestTheSameTransactionsAndCallsGiveTheSameOnAnvil(t *testing.T) {
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	t.Logf("seed %d, %d transactions", *seed, *transactions)
	p := newPair(t)
	s := newScript(p, *seed)
	for range *transactions {
		s.transaction()
		for range 3 {
			s.read()
		}
	}
	for _, what := range slices.Sorted(maps.Keys(p.count)) {
		t.Logf("%6d %s", p.count[what], what)
	}
	if *seed != 1 || *transactions != 2000 {
		return
	}
	for _, d := range slices.Concat(notCompared, wording) {
		if p.count[d.String()] == 0 && !d.rare {
			t.Errorf("no longer a difference: %s", d)
		}
	}
	for _, kind := range []string{"CALL", "CALLCODE",
		"DELEGATECALL", "STATICCALL", "CREATE", "CREATE2", "SELFDESTRUCT"} {
		if p.count["traced: "+kind] < 20 {
			t.Errorf("there were %d of %s", p.count["traced: "+kind], kind)
		}
	}
	for i := range 8 {
		what := fmt.Sprintf("sealed: type %d, status %d", [4]int{0, 1, 2, 4}[i/2], i%2)
		if p.count[what] < 50 {
			t.Errorf("%s: %d", what, p.count[what])
		}
	}
}

// row is the difference in the documentation.
func (d difference) row() string {
	show := func(pattern string) string {
		if pattern == "" {
			return "any"
		}
		text := strings.NewReplacer(".*", "…", `\d{1,4}|1\d{4}|20\d{3}`, "below 21000", `\`, "", "0{40}", "00…",
			"0{64}", "00…", "0x..", "0x…", "|", `\|`).Replace(pattern)
		return "`" + text + "`"
	}
	where := "any error"
	if d.method != "" {
		where = show(d.method)
	}
	if d.field != "" {
		where += ", " + show(d.field)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", where, show(d.ours), show(d.anvil), d.why)
}

func TestTheDocumentationListsWhatDiffersFromAnvil(t *testing.T) {
	var rows []string
	for _, d := range slices.Concat(notCompared, wording) {
		rows = append(rows, d.row())
	}
	want := "|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n\n"
	if doc := must(os.ReadFile("../../../../../docs/devnet.md")); !strings.Contains(string(doc), want) {
		t.Errorf("docs/devnet.md has not the table\n%s", want)
	}
}

// pair is an embedded chain and anvil with the same accounts, blocks of the same time and the same fees.
type pair struct {
	t       *testing.T
	methods jsonrpc.Methods
	conn    net.Conn
	answers *json.Decoder
	time    uint64
	shown   int
	count   map[string]int
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, time: timeOfGenesis, count: map[string]int{}, methods: jsonrpc.Methods{}}
	var alloc []evm.Account
	for _, k := range keys {
		alloc = append(alloc, evm.Account{Address: addressOf(k), Balance: funds})
	}
	c := must(evm.Open(store.NewMemory(), evm.Spec{ChainID: 77, Time: timeOfGenesis, Alloc: alloc}))
	n := evm.NewNode(c, evm.NodeOptions{Clock: func() time.Time { return time.Unix(int64(p.time), 0) }})
	t.Cleanup(n.Close)
	maps.Copy(p.methods, ethrpc.Methods(n, ethrpc.Options{}))
	maps.Copy(p.methods, Methods(n))

	p.start(filepath.Join(t.TempDir(), "ipc"))
	for _, a := range alloc {
		p.must("anvil_setBalance", a.Address, (*hexutil.Big)(a.Balance))
	}
	p.must("anvil_setCoinbase", common.Address{})
	p.must("anvil_setNextBlockBaseFeePerGas", hexutil.Uint64(evm.GenesisBaseFee*7/8)) // after an empty block
	return p
}

func (p *pair) start(socket string) {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(p.t.Context()))
	//nolint:gosec // the path comes from the person who runs the test
	cmd := exec.CommandContext(ctx, *anvilProgram, "--port", "0", "--ipc", socket, "--chain-id", "77",
		"--timestamp", fmt.Sprint(timeOfGenesis), "--hardfork", "osaka", "--base-fee", fmt.Sprint(evm.GenesisBaseFee),
		"--accounts", "0", "--gas-limit", fmt.Sprint(gasOfBlock), "--disable-min-priority-fee", "--no-mining")
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		stop()
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "Listening on "); {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	p.conn = must(new(net.Dialer).DialContext(ctx, "unix", socket))
	p.t.Cleanup(func() { _ = p.conn.Close() })
	p.answers = json.NewDecoder(p.conn)
}

// answer is what a node says to a call.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc.Error  `json:"error"`
}

func (a answer) String() string {
	if a.Error != nil {
		return fmt.Sprintf("%d %s", a.Error.Code, a.Error.Message)
	}
	return string(a.Result)
}

// anvil asks anvil.
func (p *pair) anvil(method string, params ...any) answer {
	p.t.Helper()
	if params == nil {
		params = []any{}
	}
	err := p.conn.SetDeadline(time.Now().Add(20 * time.Second))
	if err == nil {
		err = json.NewEncoder(p.conn).Encode(map[string]any{
			"jsonrpc": "2.0", "id": 1, "method": method, "params": params,
		})
	}
	var a answer
	if err == nil {
		err = p.answers.Decode(&a)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	return a
}

func (p *pair) must(method string, params ...any) {
	p.t.Helper()
	if a := p.anvil(method, params...); a.Error != nil {
		p.t.Fatalf("%s: %s", method, a)
	}
}

// ours asks the embedded chain.
func (p *pair) ours(method string, params ...any) answer {
	p.t.Helper()
	var raw jsonrpc.Params
	for _, one := range params {
		raw = append(raw, must(json.Marshal(one)))
	}
	got, err := p.methods[method](p.t.Context(), raw)
	if err == nil {
		return answer{Result: must(json.Marshal(got))}
	}
	a := answer{Error: new(jsonrpc.Error)}
	if !errors.As(err, &a.Error) {
		a.Error = jsonrpc.Errorf(jsonrpc.CodeServer, "%v", err)
	}
	return a
}

// both asks both nodes, compares, and returns our answer.
func (p *pair) both(what, method string, params ...any) (ours answer, agreed bool) {
	p.t.Helper()
	ours, theirs := p.ours(method, params...), p.anvil(method, params...)
	return ours, p.compare(what, method, ours, theirs)
}

func (p *pair) compare(what, method string, ours, theirs answer) bool {
	p.t.Helper()
	if (ours.Error == nil) != (theirs.Error == nil) {
		return p.known(method, "", ours, theirs) ||
			p.differ("%s, %s: we say %.600s, anvil says %.600s", what, method, ours, theirs)
	}
	if ours.Error != nil {
		p.count["failed: "+method+" "+numbers.ReplaceAllString(ours.Error.Message, "N")]++
		if ours.String() != theirs.String() && !p.worded(ours, theirs) {
			return p.differ("%s, %s: we say %s, anvil says %s", what, method, ours, theirs)
		}
		reverted := ours.Error.Code == jsonrpc.CodeReverted && theirs.Error.Code == jsonrpc.CodeReverted
		if reverted && fmt.Sprint(ours.Error.Data) != fmt.Sprint(theirs.Error.Data) {
			return p.differ("%s, %s: we return %v, anvil %v", what, method, ours.Error.Data, theirs.Error.Data)
		}
		return true
	}
	p.count["answered: "+method]++
	var x, y any
	if err := errors.Join(json.Unmarshal(ours.Result, &x), json.Unmarshal(theirs.Result, &y)); err != nil {
		return p.differ("%s, %s: %v", what, method, err)
	}
	return p.walk(what, method, "", x, y)
}

var (
	numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+`)
	nested  = regexp.MustCompile(`^(calls\.)+`)
)

// walk compares two JSON values below a path. A field that is null is as one that is not there.
func (p *pair) walk(what, method, path string, x, y any) bool {
	p.t.Helper()
	same := true
	switch a := x.(type) {
	case map[string]any:
		if b, ok := y.(map[string]any); ok {
			all := maps.Clone(a)
			maps.Copy(all, b)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				same = p.walk(what, method, strings.TrimPrefix(path+"."+name, "."), a[name], b[name]) && same
			}
			return same
		}
	case []any:
		if b, ok := y.([]any); ok && len(a) == len(b) {
			for i := range a {
				same = p.walk(fmt.Sprintf("%s #%d", what, i), method, path, a[i], b[i]) && same
			}
			return same
		}
	}
	if reflect.DeepEqual(x, y) {
		return true
	}
	field := nested.ReplaceAllString(path, "calls.")
	a, b := string(must(json.Marshal(x))), string(must(json.Marshal(y)))
	return p.known(method, field, answer{Result: json.RawMessage(a)}, answer{Result: json.RawMessage(b)}) ||
		p.differ("%s, %s: %s is %.600s here and %.600s there", what, method, path, a, b)
}

// known looks a field up in the table of those that differ.
func (p *pair) known(method, field string, ours, theirs answer) bool {
	for _, d := range notCompared {
		if matchesAll(d.method, method) && (d.field == "") == (field == "") && matchesAll(d.field, field) &&
			matches(d, ours, theirs) {
			p.count[d.String()]++
			return true
		}
	}
	return false
}

func (p *pair) worded(ours, theirs answer) bool {
	for _, d := range wording {
		if matches(d, ours, theirs) {
			p.count[d.String()]++
			return true
		}
	}
	return false
}

func matches(d difference, ours, theirs answer) bool {
	return matchesAll(d.ours, ours.String()) && matchesAll(d.anvil, theirs.String())
}

// matchesAll holds a text against a pattern of all of it; an empty pattern is for every text.
func matchesAll(pattern, text string) bool {
	return pattern == "" || regexp.MustCompile("^(?s:"+pattern+")$").MatchString(text)
}

func (p *pair) differ(format string, args ...any) bool {
	p.t.Helper()
	p.t.Errorf(format, args...)
	if p.shown++; p.shown == mostShown {
		p.t.Fatal("and maybe more")
	}
	return false
}

// send gives both nodes a transaction, and compares what became of it.
func (p *pair) send(what string, raw []byte, hash common.Hash, gas uint64) (receipt *types.Receipt) {
	p.t.Helper()
	p.time++
	ours, theirs := p.ours(send, hexutil.Bytes(raw)), p.anvil(send, hexutil.Bytes(raw))
	p.compare(what, send, ours, theirs)
	if theirs.Error == nil && ours.Error != nil {
		p.must("anvil_dropTransaction", hash)
	}
	if ours.Error != nil {
		p.time--
		return nil
	}
	p.must("evm_setNextBlockTimestamp", p.time)
	p.must("evm_mine")
	got, _ := p.both(what, "eth_getTransactionReceipt", hash)
	p.both(what, "eth_getTransactionByHash", hash)
	trace, _ := p.both(what, "debug_traceTransaction", hash, json.RawMessage(withLogs))
	if err := json.Unmarshal(got.Result, &receipt); err != nil || receipt == nil {
		p.t.Fatalf("%s: the receipt is %s: %v", what, got, err)
	}
	// what the tables leave out of the comparison of traces
	top, events := p.tally(trace.Result)
	if top == nil || top.Gas != hexutil.Uint64(gas) || events != len(receipt.Logs) {
		p.differ("%s: %d events and %d gas, the trace is %s", what, len(receipt.Logs), gas, trace)
	}
	return receipt
}

// tally counts the calls of a trace by how they were made and ended, and its events.
func (p *pair) tally(trace json.RawMessage) (top *call, events int) {
	if json.Unmarshal(trace, &top) != nil || top == nil {
		return nil, 0
	}
	for todo := []*call{top}; len(todo) > 0; todo = todo[1:] {
		c := todo[0]
		todo = append(todo, c.Calls...)
		p.count["traced: "+c.Type]++
		p.count["ended: "+numbers.ReplaceAllString(c.Error, "N")]++
		events += len(c.Logs)
		if c.To != nil && bytes.Equal(c.To[:18], make([]byte, 18)) {
			p.count["traced: precompiled contracts"]++
		}
	}
	return top, events
}
