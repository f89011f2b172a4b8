//go:build unix

package nodes

import (
	"bufio"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/ui/e2e/rig"
)

// The step "real" of .ci/run gives the path of a Solana chain over litesvm, which Node runs.
var solanaProgram = flag.String("solana", "", "run on the Solana nodes of this script, a path, instead of a devnet's")

const usdcMint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

// solana is a Solana chain behind JSON-RPC, with a person who has an account there.
type solana struct {
	*person
	nodes []string
	me    string
}

// newSolana starts a chain, and makes a profile with a Solana account on it.
func newSolana(t *testing.T) *solana {
	t.Helper()
	w := newWorld(t, base)
	s := &solana{person: &person{world: w}}
	genesis := s.starts()
	s.file = filepath.Join(w.dir, "networks.toml")
	args := []string{"network", "init", "--kind", "lab", "--out", s.file, "--chain", base + "=" + w.url[base]}
	for _, url := range s.nodes {
		args = append(args, "--chain", "solana:"+genesis[:32]+"="+url)
	}
	s.runs(0, args...)
	raw, err := os.ReadFile(s.file)
	w.ok(err)
	head, _, _ := strings.Cut(string(raw), "\n[[chains]]\nid = \"solana:")
	w.writes(s.file, head+strings.Replace(string(raw[len(head):]), "tokens = [\n", "tokens = [\n  { symbol = "+
		"\"USDC\", address = \""+usdcMint+"\", decimals = 6, aggregate = \"ob:usdc\" },\n", 1))
	w.deploys(s.file)
	s.runs(0, "profile", "add", "nodes", "--networks", s.file, "--vault", "file")
	rig.MakesVault(w.T, w.dir, "nodes", s.network())
	s.pass = rig.Passphrase
	s.runs(0, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--name", "daily", "--signer", s.makes().Hex())
	out, _ := s.runs(0, "keys", "new", "--kind", "solana")
	s.me = strings.TrimSpace(out)
	s.runs(0, "accounts", "add", "--type", "solana", "--address", s.me)
	return s
}

// network is the id of the file's network.
func (s *solana) network() string {
	s.Helper()
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(s.file), "network.json"))
	s.ok(err)
	var d struct {
		ID string `json:"id"`
	}
	s.ok(json.Unmarshal(raw, &d))
	return d.ID
}

// starts starts the nodes, and returns the hash of the first block.
func (s *solana) starts() (genesis string) {
	s.Helper()
	if *solanaProgram == "" {
		s.nodes = []string{s.url["0"]}
		s.asks(s.nodes[0], &genesis, "getGenesisHash")
		return genesis
	}
	cmd := exec.Command("node", *solanaProgram)
	in, err := cmd.StdinPipe()
	s.ok(err)
	out, err := cmd.StdoutPipe()
	s.ok(err)
	s.ok(cmd.Start())
	s.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	var at struct {
		Genesis string   `json:"genesis"`
		Nodes   []string `json:"nodes"`
	}
	s.ok(json.Unmarshal(lines.Bytes(), &at))
	s.nodes = at.Nodes
	return at.Genesis
}

// asks asks a node.
func (s *solana) asks(node string, result any, method string, params ...any) {
	s.Helper()
	s.ok(post(context.Background(), node, result, method, params...))
}

// tells tells one of litesvm's nodes what to do, and returns a number that it answers.
func (s *solana) tells(node int, what map[string]any) (n uint64) {
	s.Helper()
	s.asks(s.nodes[node], &n, "test", what)
	return n
}

// has is what an account has of SOL, in lamports.
func (s *solana) has(of string) uint64 {
	s.Helper()
	var got struct {
		Value uint64 `json:"value"`
	}
	s.asks(s.nodes[0], &got, "getBalance", of, map[string]string{"commitment": "confirmed"})
	return got.Value
}

// sends is the command line of a transfer.
func (s *solana) sends(asset, amount, to string) []string {
	return []string{"transfer", "--asset", asset, "--amount", amount, "--to", to, "--chain", "solana", "--yes",
		"--accept", "V4,Y5", "--json"}
}

// Payees on Solana, without an account.
const (
	alice = "2JT1EMVsgfcoKWzXLSwVScQZf9uLUdrSx8FBGLZMj4ze"
	bob   = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
)

// From a networks file to a payment in SOL: what is missing is said, it arrives, and history has it with its fee.
func TestAPaymentOnSolanaFromOwnNodes(t *testing.T) {
	t.Parallel()
	s := newSolana(t)
	_, errs := s.runs(1, s.sends("sol", "0.5", alice)...)
	if !strings.Contains(errs, "has 0 SOL: send it 0.50") {
		t.Errorf("what is missing is not said: %s", errs)
	}
	s.gets(3_000_000_000)
	s.completes(s.sends("sol", "0.5", alice)...)
	left := s.has(s.me)
	if s.has(alice) != 500_000_000 || left >= 2_500_000_000 || left < 2_499_000_000 {
		t.Errorf("%d arrived, %d are left", s.has(alice), left)
	}
	s.completes(s.sends("sol", "0.25", alice)...)
	out, _ := s.runs(0, "history")
	if strings.Count(out, "completed") != 2 || strings.Count(out, "fees 0.0000") != 2 {
		t.Errorf("history: %s", out)
	}
	if *solanaProgram == "" { // what the faucet of a devnet paid is a transaction
		s.shows(3_000_000_000)
	}
	s.paysAList()
	for _, args := range [][]string{s.sends("usdc", "1", "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"),
		{"swap", "--asset", "sol", "--amount", "1", "--for", "usdc@solana", "--yes", "--json"}} {
		if _, errs := s.runs(2, args...); errs == "" {
			t.Errorf("%v says nothing", args)
		}
	}
}

// shows waits until history has, beside two payments of its own, what came in: each of them once.
func (s *solana) shows(lamports uint64) {
	s.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		out, _ := s.runs(0, "history")
		text := strings.Count(out, "completed") == 2 && strings.Count(out, "seen by your node") == 1 &&
			strings.Contains(out, "received 3 SOL") && len(strings.Split(strings.TrimSpace(out), "\n")) == 3
		lines, _ := s.runs(0, "history", "--json", "--type", "RECEIVED")
		if text && strings.Contains(lines, `"seen":{"by":"your node"`) &&
			strings.Contains(lines, `"amount":"`+strconv.FormatUint(lamports, 10)+`"`) {
			s.looks()
			return
		}
		if time.Now().After(end) {
			s.Fatalf("history: %s\n%s", out, lines)
		}
	}
}

// paysAList: a list is refused with what works instead, and that works: each payment is a plan, which is sent once.
func (s *solana) paysAList() {
	s.Helper()
	list, file := filepath.Join(s.dir, "list.csv"), filepath.Join(s.dir, "plan.toml")
	s.writes(list, alice+",0.1\n"+bob+",0.2\n")
	for _, asset := range [][]string{{"--asset", "sol@solana"}, {"--asset", "sol", "--chain", "solana"}} {
		_, errs := s.runs(2, append([]string{"pay", list, "--dry-run"}, asset...)...)
		if !strings.Contains(errs, "nothing is paid: on Solana a payment has one recipient") ||
			!strings.Contains(errs, "coffer plan") {
			s.Errorf("%v: %s", asset, errs)
		}
	}
	s.runs(0, "plan", "--asset", "sol", "--amount", "0.2", "--to", bob, "--chain", "solana", "--out", file)
	before := s.has(bob)
	apply := []string{"apply", file, "--yes", "--accept", "V4,Y5", "--json"}
	s.completes(apply...)
	_, errs := s.runs(4, apply...)
	if s.has(bob) != before+200_000_000 || !strings.Contains(errs, "It is not applied twice") {
		s.Errorf("%d arrived: %s", s.has(bob)-before, errs)
	}
}

// looks at the same in the dashboard, and line by line.
func (s *solana) looks() {
	s.Helper()
	p := rig.At(s.T, rig.Start(s.T, s.env, 120, 40, "--profile", "nodes"))
	p.Sees("LAB", "SOL")
	p.Types("4")
	p.Sees("received 3 SOL", "node saw it", "completed")
	p.Quits()
	lines := exec.Command(rig.Program(), "--linear", "--profile", "nodes")
	lines.Env, lines.Dir, lines.Stdin = s.env, s.dir, strings.NewReader("history\n\nquit\n")
	out, err := lines.Output()
	said := strings.Join(strings.Fields(string(out)), " ")
	if err != nil || !strings.Contains(said, "received 3 SOL on Solana, seen by your node") ||
		strings.Count(said, "completed") != 2 {
		s.Errorf("%v: %s", err, said)
	}
}

// gets has the faucet pay the person.
func (s *solana) gets(lamports uint64) {
	s.Helper()
	if *solanaProgram != "" {
		s.tells(0, map[string]any{"pays": map[string]any{"to": s.me, "lamports": lamports}})
		return
	}
	var signature string
	s.asks(s.nodes[0], &signature, "requestAirdrop", s.me, lamports)
}

// needsLitesvm skips what the ledger of a devnet cannot do: it is final at once.
func needsLitesvm(t *testing.T) {
	t.Helper()
	if *solanaProgram == "" {
		t.Skip("no -solana PATH is given; .ci/run real gives one")
	}
}

// The runtime of Agave runs what the program makes: tokens, to a recipient with and without an account, at a price of
// the day, and what nodes lose, hide or lie about.
func TestTransfersOnTheRuntimeOfSolana(t *testing.T) {
	t.Parallel()
	needsLitesvm(t)
	s := newSolana(t)
	s.gets(3_000_000_000)
	s.tells(0, map[string]any{"tokens": map[string]any{"mint": usdcMint, "to": s.me, "amount": 25_000_000},
		"fees": 50_000})
	t.Run("a token to a new account and again", func(t *testing.T) {
		before := s.has(s.me)
		s.completes(s.sends("usdc", "7", bob)...)
		first := before - s.has(s.me)
		s.completes(s.sends("usdc", "1", bob)...)
		second := before - first - s.has(s.me)
		if s.tokens(bob) != 8_000_000 || s.tokens(s.me) != 17_000_000 || first-second < 2_000_000 || second < 5_050 ||
			second > 100_000 {
			t.Errorf("%d arrived, %d are left, it cost %d and %d", s.tokens(bob), s.tokens(s.me), first, second)
		}
	})
	t.Run("what others send", func(t *testing.T) { testOthers(t, s) })
	t.Run("more than there is", func(t *testing.T) {
		if _, errs := s.runs(1, s.sends("usdc", "21", bob)...); !strings.Contains(errs, "available 20 USDC") {
			t.Error(errs)
		}
	})
	t.Run("a node that lies about the outcome", func(t *testing.T) {
		s.tells(1, map[string]any{"lie": true})
		cmd, out, _ := s.script().Starts(append(s.sends("sol", "0.1", bob), "--wait", "4m")...)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended: // the two nodes differ, so nothing is said
			t.Fatalf("one of two nodes decided: %v, %s", err, out)
		case <-time.After(12 * time.Second):
		}
		s.tells(1, map[string]any{"lie": false})
		if err := <-ended; err != nil || !strings.Contains(out.String(), "COMPLETED") || s.has(bob) != 100_000_000 {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("nodes that lose it", func(t *testing.T) {
		s.tells(0, map[string]any{"lose": true})
		before := s.has(s.me)
		out, errs := s.runs(1, append(s.sends("sol", "0.2", bob), "--wait", "4m")...)
		if !strings.Contains(out+errs, "ORDER_EXPIRED") || s.has(s.me) != before {
			t.Errorf("%s\n%s", out, errs)
		}
		s.tells(0, map[string]any{"lose": false})
	})
}

// testOthers has somebody else send SOL and tokens: history has both as seen by the nodes, each once, beside the two
// payments of its own. A node that hides them has its words there, and nothing else is missing.
func testOthers(t *testing.T, s *solana) {
	s.tells(0, map[string]any{"others": map[string]any{"to": s.me, "lamports": 70_000_000, "mint": usdcMint,
		"amount": 3_000_000}})
	row := func(out, words string) int {
		return strings.Count(out, "seen by your node  "+words)
	}
	var out string
	for end := time.Now().Add(time.Minute); row(out, "received 3 USDC") == 0 && time.Now().Before(end); {
		time.Sleep(time.Second)
		out, _ = s.runs(0, "history")
	}
	if row(out, "received 0.07 SOL") != 1 || row(out, "received 3 USDC") != 1 || row(out, "") != 2 ||
		strings.Count(out, "completed") != 2 || len(strings.Split(strings.TrimSpace(out), "\n")) != 4 {
		t.Errorf("history: %s", out)
	}
	s.tells(1, map[string]any{"hide": true})
	out, _ = s.runs(0, "history")
	if !strings.Contains(out, "What others did on Solana is not known: your nodes do not agree.") ||
		strings.Count(out, "completed") != 2 || row(out, "") != 0 {
		t.Errorf("a node hides it: %s", out)
	}
	s.tells(1, map[string]any{"hide": false})
}

// The program is killed when its transfer is on disk and no node has it: the next one sends the same bytes, or finds
// that their block hash has ended. It happens once or never, and history says which.
func TestATransferOnTheRuntimeOfSolanaSurvivesAKill(t *testing.T) {
	t.Parallel()
	needsLitesvm(t)
	s := newSolana(t)
	s.gets(3_000_000_000)
	s.tells(0, map[string]any{"lose": true})
	cmd, _, errs := s.script().Starts(append(s.sends("sol", "0.3", bob), "--wait", "4m")...)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for before := s.tells(0, map[string]any{}); s.tells(0, map[string]any{}) < before+2; {
		select {
		case err := <-ended:
			t.Fatalf("%v before anything was sent: %s", err, errs)
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	s.tells(0, map[string]any{"lose": false})
	out, _ := s.runs(0, "activity", "--json")
	id := strings.Trim(regexp.MustCompile(`"[0-9a-f]{16}"`).FindString(out), `"`)
	again, told, problem := s.script().Starts("status", id, "--watch", "--wait", "4m")
	_ = again.Wait()
	if code := again.ProcessState.ExitCode(); code != 0 && code != 1 { // completed, or failed
		t.Fatalf("exit code %d: %s%s", code, told, problem)
	}
	got := s.has(bob)
	out, _ = s.runs(0, "history", "--json", "--limit", "1")
	if done := strings.Contains(out, "COMPLETED"); got != 0 && got != 300_000_000 || done != (got > 0) {
		t.Errorf("%d arrived, and history says %s", got, out)
	}
}

// tokens is what an owner has of USDC.
func (s *solana) tokens(of string) uint64 {
	s.Helper()
	return s.tells(0, map[string]any{"holds": map[string]string{"mint": usdcMint, "of": of}})
}
