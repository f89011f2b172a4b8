package solana_test

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// vmHead is the first line of vm.jsonl: what all worlds begin with. The other lines name keys by their place in Keys.
type vmHead struct {
	Seeds, Keys []string
	Accounts    []struct {
		Key, Owner int
		Lamports   uint64
		Data       string
	}
}

// vmLine is one transaction and what became of it in the real VM. An instruction is program/accounts/data; a change is
// key, lamports gained, owner (-1: a loader) and size.
type vmLine struct {
	World, Payer int
	Instructions []string
	Result       string
	At           int
	Error        string // the runtime's name, with its place
	Code         uint32
	Logs         string // start of a hash; empty when the runtime cut the log
	Inner        string // start of a hash of what programs called; empty when they called none
	Fee          uint64
	Changes      [][4]int64
}

// vmKey is a key of the worlds, with the secret of those that can sign.
type vmKey struct {
	solmsg.Key
	secret ed25519.PrivateKey
}

// vmAccount is what is compared of an account. Of a program it is what it got since the beginning.
type vmAccount struct {
	lamports uint64
	owner    solmsg.Key
	size     int
}

// vmWorld is a ledger and what the VM says of its accounts.
type vmWorld struct {
	ledger
	keys []vmKey
	want map[solmsg.Key]vmAccount
	at   uint64
}

func vmKeys(t *testing.T, head vmHead) []vmKey {
	t.Helper()
	var out []vmKey
	for i, text := range head.Keys {
		k := vmKey{Key: parseKey(t, text)}
		if i < len(head.Seeds) {
			k.secret = ed25519.NewKeyFromSeed(unhex(t, head.Seeds[i]))
		}
		out = append(out, k)
	}
	return out
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newVMWorld(t *testing.T, head vmHead) *vmWorld {
	t.Helper()
	w := &vmWorld{keys: vmKeys(t, head), want: map[solmsg.Key]vmAccount{}, at: genesisTime}
	sp := solana.Spec{Time: genesisTime}
	for _, a := range head.Accounts {
		data := unhex(t, a.Data)
		key, owner := w.keys[a.Key].Key, w.keys[a.Owner].Key
		w.want[key] = vmAccount{a.Lamports, owner, len(data)}
		sp.Accounts = append(sp.Accounts, solana.Allocation{Key: key,
			Account: solana.Account{Lamports: a.Lamports, Owner: owner, Data: data}})
	}
	var err error
	if w.Ledger, err = solana.Open(store.NewMemory(), sp); err != nil {
		t.Fatal(err)
	}
	return w
}

// build reads an instruction.
func (w *vmWorld) build(t *testing.T, text string) solmsg.Build {
	t.Helper()
	parts := strings.Split(text, "/")
	key := func(s string) solmsg.Key {
		i, err := strconv.Atoi(strings.TrimRight(s, "sw"))
		if err != nil {
			t.Fatal(err)
		}
		return w.keys[i].Key
	}
	b := solmsg.Build{Program: key(parts[0]), Data: unhex(t, parts[2])}
	for _, a := range strings.Fields(parts[1]) {
		b.Accounts = append(b.Accounts, solmsg.Meta{Key: key(a), Signer: strings.Contains(a, "s"),
			Writable: strings.Contains(a, "w")})
	}
	return b
}

// send gives a transaction to the ledger.
func (w *vmWorld) send(t *testing.T, line vmLine) (solana.Receipt, error) {
	t.Helper()
	var builds []solmsg.Build
	for _, text := range line.Instructions {
		builds = append(builds, w.build(t, text))
	}
	w.at++
	hash, _ := w.Blockhash(w.at)
	m, err := solmsg.Compose(w.keys[line.Payer].Key, hash, builds...)
	if err != nil {
		t.Fatal(err)
	}
	var secrets []ed25519.PrivateKey
	for _, k := range w.keys {
		if k.secret != nil {
			secrets = append(secrets, k.secret)
		}
	}
	out, err := w.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{signed(m, secrets...)}})
	if err != nil {
		return solana.Receipt{}, err
	}
	return out[0], nil
}

// differs says where the ledger and the VM are not of one mind, empty when nowhere.
func (w *vmWorld) differs(t *testing.T, line vmLine) string {
	t.Helper()
	r, err := w.send(t, line)
	var refusal *solana.TxError
	switch {
	case err != nil && !errors.As(err, &refusal):
		t.Fatal(err)
	case (err != nil) != (line.Result == "refused"):
		return fmt.Sprintf("%s in the VM, the ledger says %v", line.Result, err)
	case err == nil && (r.Success != (line.Result == "success") || r.Fee != line.Fee):
		return fmt.Sprintf("%s for %d, the ledger says %t for %d: %s", line.Result, line.Fee, r.Success, r.Fee, r.Error)
	case err == nil && !r.Success && r.Instruction != line.At:
		return fmt.Sprintf("fails at %d, in the ledger at %d: %s", line.At, r.Instruction, r.Error)
	}
	if text := w.speaks(t, line, r, err); text != "" {
		return text
	}
	for _, c := range line.Changes {
		k := w.keys[c[0]].Key
		a := vmAccount{lamports: w.want[k].lamports + uint64(c[1])}
		if a.lamports > 0 && c[2] >= 0 {
			a.owner, a.size = w.keys[c[2]].Key, int(c[3])
		}
		w.want[k] = a
	}
	for _, k := range w.keys {
		a, err := w.Account(k.Key)
		if err != nil {
			t.Fatal(err)
		}
		if got := (vmAccount{a.Lamports, a.Owner, len(a.Data)}); got != w.want[k.Key] {
			return fmt.Sprintf("%s has %+v, in the VM %+v", k.Key, got, w.want[k.Key])
		}
	}
	return ""
}

// speaks says where the ledger names a fault otherwise than the VM, or logs something else. What a program that the
// ledger does not have says is not compared.
func (w *vmWorld) speaks(t *testing.T, line vmLine, r solana.Receipt, refused error) string {
	t.Helper()
	f, has := solana.FaultOf(refused)
	if r.Fault != nil {
		f, has = *r.Fault, true
	}
	if f.Instruction == "UnsupportedProgramId" {
		return ""
	}
	if has != (line.Error != "") {
		return fmt.Sprintf("%q in the VM, the ledger says %+v", line.Error, f)
	}
	name := f.Kind
	switch f.Kind {
	case solana.FaultInstruction:
		name += fmt.Sprintf(" %d %s", f.Index, f.Instruction)
	case solana.FaultDuplicate, solana.FaultRent:
		name += fmt.Sprintf(" %d", f.Index)
	}
	if name != line.Error || f.Code != line.Code {
		return fmt.Sprintf("%s %d in the VM, the ledger says %s %d: %s", line.Error, line.Code, name, f.Code, r.Error)
	}
	if line.Logs != "" && shortHash(r.Logs) != line.Logs {
		return "the VM logs something else than " + strings.Join(r.Logs, "\n")
	}
	lines := w.called(t, r)
	if (len(lines) > 0) != (line.Inner != "") || lines != nil && shortHash(lines) != line.Inner {
		return "in the VM programs call other instructions than " + strings.Join(lines, "\n")
	}
	return ""
}

func shortHash(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// called lists what programs called as the vectors do.
func (w *vmWorld) called(t *testing.T, r solana.Receipt) (lines []string) {
	t.Helper()
	if len(r.Inner) == 0 {
		return nil
	}
	m, err := solmsg.Parse(r.Message)
	if err != nil {
		t.Fatal(err)
	}
	place := func(i byte) string {
		return strconv.Itoa(slices.IndexFunc(w.keys, func(k vmKey) bool { return k.Key == m.Keys[i] }))
	}
	for _, in := range r.Inner {
		var accounts []string
		for _, i := range in.Accounts {
			accounts = append(accounts, place(i))
		}
		lines = append(lines, fmt.Sprintf("%d/%s/%s/%x", in.Instruction, place(in.Program), strings.Join(accounts, " "),
			in.Data))
	}
	return lines
}

// vmFile may be of other worlds than those that are kept.
var vmFile = flag.String("vm", "testdata/vm.jsonl", "transactions and what became of them in the real VM")

func TestTheLedgerDoesWhatTheRealVMDoes(t *testing.T) {
	file, err := os.Open(*vmFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	next := func(v any) bool {
		if !lines.Scan() {
			return false
		}
		if err := json.Unmarshal(lines.Bytes(), v); err != nil {
			t.Fatal(err)
		}
		return true
	}
	var head vmHead
	next(&head)
	var w *vmWorld
	results := map[string]int{}
	for world, lost := -1, false; ; {
		line := vmLine{}
		if !next(&line) {
			break
		}
		if line.World != world {
			w, world, lost = newVMWorld(t, head), line.World, false
		}
		if lost {
			continue // what follows a difference differs, too
		}
		if text := w.differs(t, line); text != "" {
			t.Errorf("world %d: payer %d %v: %s", world, line.Payer, line.Instructions, text)
			lost = true
		}
		results[line.Result]++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(results)), []string{"failure", "refused", "success"}) {
		t.Errorf("the VM's results are %v", results)
	}
}
