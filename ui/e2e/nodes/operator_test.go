//go:build unix

package nodes

import (
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/catalog"
	"coffer/ui/e2e/rig"
)

// operated is an operator's lab on chains with play money, where rich is the operator's cold key, and a member.
type operated struct {
	*person
	tokens              map[string]common.Address // USDC by chain
	filler, escrow, hot common.Address
	data, listen        string
	flags               []string // more of the service
	service             *exec.Cmd
	said                *strings.Builder    // what the service wrote into its log
	began               map[string]*big.Int // USDC of these accounts together, by chain
}

// inventory is what the filler begins with on each chain, and savings what the member has on those that pay, in
// millionths of a USDC.
const (
	inventory = 50_000e6
	savings   = 5_000e6
)

// newOperated makes the operator's network by commands, and a member who has money on the chains that pay.
func newOperated(t *testing.T, endpoints func(w *world, id string) []string, paying []string,
	ids ...string) *operated {
	t.Helper()
	return newOperatedBy(t, running{}, endpoints, paying, ids...)
}

// running is how a service runs: with tables of its file that say where the operator's keys are, and with more flags.
type running struct {
	keys  string
	flags []string
}

// newOperatedBy is newOperated with a service that runs in another way.
func newOperatedBy(t *testing.T, how running, endpoints func(w *world, id string) []string, paying []string,
	ids ...string) *operated {
	t.Helper()
	cold, err := crypto.HexToECDSA(strings.TrimPrefix(richKey, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	rich := crypto.PubkeyToAddress(cold.PublicKey)
	w := newWorldOn(t, func(w *world) {
		for _, id := range ids {
			file := filepath.Join(w.dir, id+".json")
			rig.Script{T: t, Env: w.env}.Runs(0, "network", "genesis", "--chain-id", id, "--play-money", "--fund",
				rich.Hex(), "--out", file)
			w.url[id] = anvil(t, id, "--init", file)
		}
	}, ids...)
	o := &operated{person: &person{world: w, at: map[string]common.Address{}}, tokens: map[string]common.Address{},
		data: filepath.Join(w.dir, "team"), listen: "127.0.0.1:0", flags: how.flags, began: map[string]*big.Int{}}
	if runtime.GOOS == "linux" {
		o.listen = "127.0.0.2:0" // no connection of others takes its port while the service is down
	}
	known, err := catalog.Load()
	w.ok(err)
	usdc, _ := known.Aggregate("ob:usdc")
	for _, e := range usdc.Entities {
		if at, is := e.Asset.Token(); is {
			o.tokens[strings.TrimPrefix(e.Asset.Chain.String(), "eip155:")] = at
		}
	}

	o.file = filepath.Join(w.dir, "networks.toml")
	args := []string{"network", "init", "--kind", "lab", "--tokens", "priced", "--operator", rich.Hex(), "--out",
		o.file}
	for _, id := range ids {
		for _, url := range endpoints(w, id) {
			args = append(args, "--chain", id+"="+url)
		}
	}
	o.runs(0, args...)
	w.edits(o.file, "accounts = []", `accounts = "any"`+"\n"+how.keys)
	_, errs := o.runs(1, o.serves()...)
	o.edits(o.file, "attesters = []", fmt.Sprintf("attesters = [%q]", o.finds(errs, `write (0x\w{40}) into the list`)))
	if out, _ := o.runs(1, "network", "check", "--file", o.file); strings.Count(out, "MISSING") != 2*len(ids) {
		t.Errorf("check says\n%s", out) // filler and escrow
	}
	w.deploys(o.file)
	o.runs(0, "network", "check", "--file", o.file)
	_, errs = o.runs(1, o.serves()...)
	o.filler = common.HexToAddress(o.finds(errs, `no hot key of the filler (0x\w{40})`))
	o.hot = common.HexToAddress(o.finds(errs, `has to call setHot\((0x\w{40}), true\)`))
	for _, id := range ids {
		o.owner(id, "setHot(address,bool)", o.hot[:], []byte{1})
		w.sends(id, &o.hot, big.NewInt(1e18), nil)
		if usdc, has := o.tokens[id]; has {
			o.owner(id, "setCap(address,uint256,uint256)", usdc[:], big.NewInt(inventory).Bytes(), nil)
			o.gives(id, o.filler, inventory)
		}
	}
	for _, id := range ids { // a chain that just began asks a gwei, which is too much for the payments of these tests
		w.until("cheap gas", func() bool {
			var head struct {
				BaseFee hexutil.Uint64 `json:"baseFeePerGas"`
			}
			w.ask(id, &head, "eth_getBlockByNumber", "latest", false)
			return head.BaseFee < 2e7
		})
	}
	at := o.starts()
	key := o.adds()
	raw, err := os.ReadFile(at.NetworkFile)
	w.ok(err)
	var d struct {
		ID          string `json:"id"`
		Deployments []struct{ Escrow common.Address }
	}
	w.ok(json.Unmarshal(raw, &d, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(false)))
	o.escrow = d.Deployments[0].Escrow

	out, _ := o.runs(0, "profile", "fingerprint", at.NetworkFile)
	o.runs(0, "profile", "add", "team", "--kind", "lab", "--url", at.BaseURL, "--ca-file", at.CAFile, "--network-file",
		at.NetworkFile, "--fingerprint", o.finds(out, `([0-9a-f]{4}(?: [0-9a-f]{4}){7})`), "--vault", "file")
	rig.MakesVault(t, w.dir, "team", d.ID)
	if screen, err := rig.Asks(t, w.env, []string{"keys", "api-key", "set"}, "Passphrase", rig.Passphrase, "API key",
		key); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	o.pass = rig.Passphrase
	o.joins("daily", kinds["daily"])
	for _, id := range paying {
		o.gives(id, o.at["daily"], savings)
	}
	for _, id := range ids {
		o.began[id] = o.sum(id)
	}
	return o
}

// finds finds something in a text.
func (w *world) finds(text, pattern string) string {
	w.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		w.Fatalf("no %s in\n%s", pattern, text)
	}
	return m[1]
}

// joins gives the member an account of a kind with a key of its own.
func (o *operated) joins(name, kind string) {
	o.Helper()
	o.key = o.makes()
	signer := []string{"--signer", o.key.Hex()}
	if kind == "role-based" {
		signer = []string{"--session", o.key.Hex(), "--admin", o.makes().Hex()}
	}
	o.runs(0, append([]string{"accounts", "add", "--type", kind, "--name", name}, signer...)...)
	o.pass = ""
	out, _ := o.runs(0, "accounts", "list")
	o.pass = rig.Passphrase
	o.at[name] = common.HexToAddress(o.finds(out, kind+` +(0x\w{40})`))
}

// serves is the command of the service.
func (o *operated) serves() []string {
	return append([]string{"serve", "--networks", o.file, "--data", o.data, "--listen", o.listen,
		"--host", "127.0.0.2", "--json"}, o.flags...)
}

// adds makes a member's key at the service, with more flags if any.
func (o *operated) adds(more ...string) string {
	o.Helper()
	var made struct {
		Key string `json:"key"`
	}
	rig.KeysOf(o.T, o.env, &made, append([]string{"add", "--data", o.data, "--company", "lab", "--project", "evening"},
		more...)...)
	return made.Key
}

// starts begins the service, for good under the same address.
func (o *operated) starts() rig.Serving {
	o.Helper()
	cmd, _, line, said := rig.Begins(o.T, o.env, o.serves())
	o.service, o.said = cmd, said
	at, _ := rig.Where(o.T, line)
	o.listen = strings.TrimSuffix(strings.TrimPrefix(at.BaseURL, "https://"), "/api")
	return at
}

// dies kills the service with signal 9, if it lives, and waits until it is gone.
func (o *operated) dies() {
	_ = o.service.Process.Kill()
	_ = o.service.Wait()
}

// owner has the operator's cold key call the filler.
func (o *operated) owner(id, signature string, words ...[]byte) {
	o.Helper()
	o.sends(id, &o.filler, nil, method(signature, words...))
}

// gives sends USDC of the operator's cold key.
func (o *operated) gives(id string, to common.Address, millionths int64) {
	o.Helper()
	token := o.tokens[id]
	o.sends(id, &token, nil, method("transfer(address,uint256)", to[:], big.NewInt(millionths).Bytes()))
}

// owns is how many millionths of a USDC an account has.
func (o *operated) owns(id string, who common.Address) int64 {
	o.Helper()
	return o.reads(id, o.tokens[id], method("balanceOf(address)", who[:])).Int64()
}

// sum is what everyone has who can have USDC of the operator or of the member.
func (o *operated) sum(id string, payees ...common.Address) *big.Int {
	o.Helper()
	if _, has := o.tokens[id]; !has {
		return new(big.Int)
	}
	all := int64(0)
	for _, who := range slices.AppendSeq(append(payees, o.filler, o.escrow, o.hot), maps.Values(o.at)) {
		all += o.owns(id, who)
	}
	return big.NewInt(all)
}

// calls is a call that pays USDC on a chain from what the member has on others.
func (o *operated) calls(id string, to common.Address, usdc string, more ...string) []string {
	return append([]string{"call", "--chain", id, "--to", o.tokens[id].Hex(), "--function",
		"transfer(address to, uint256 amount)", "--arg", to.Hex(), "--arg", usdc + " USDC", "--fund-with", "usdc",
		"--yes", "--accept", "V4,Y5,J4,Q11", "--json"}, more...)
}

// logs counts those of a contract with an event, by quote.
func (o *operated) logs(id string, at common.Address, event string) (quotes map[common.Hash]int) {
	o.Helper()
	var all []struct {
		Topics []common.Hash `json:"topics"`
	}
	o.ask(id, &all, "eth_getLogs", map[string]any{"address": at, "fromBlock": hexutil.Uint64(0), "toBlock": "latest",
		"topics": []common.Hash{crypto.Keccak256Hash([]byte(event))}})
	quotes = map[common.Hash]int{}
	for _, l := range all {
		quotes[l.Topics[1]]++
	}
	return quotes
}

// The events of the contracts, and what of them is counted.
const (
	filled    = "Filled(bytes32,bytes32)"
	deposited = "Deposited(bytes32,address,address,uint256,uint64,bytes32)"
	released  = "Released(bytes32,address,address,uint256)"
	refunded  = "Refunded(bytes32,address,address,uint256)"
)

// settled waits until the escrows are empty, and demands that nothing was lost, and that each quote was filled once at
// most. It returns how often one was.
func (o *operated) settled(payees ...common.Address) (fills int) {
	o.Helper()
	o.until("an end of all deposits", func() bool {
		for _, id := range o.ids {
			if _, has := o.tokens[id]; has && o.owns(id, o.escrow) != 0 {
				return false
			}
		}
		return true
	})
	for _, id := range o.ids {
		if sum := o.sum(id, payees...); sum.Cmp(o.began[id]) != 0 {
			o.Errorf("chain %s: there are %s millionths, there were %s", id, sum, o.began[id])
		}
		for quote, n := range o.logs(id, o.filler, filled) {
			if fills++; n != 1 {
				o.Errorf("quote %s was filled %d times on chain %s", quote, n, id)
			}
		}
		back := o.logs(id, o.escrow, refunded)
		for quote, n := range o.logs(id, o.escrow, released) {
			if n+back[quote] != 1 {
				o.Errorf("the deposit of quote %s on chain %s ended %d times", quote, id, n+back[quote])
			}
		}
	}
	return fills
}
