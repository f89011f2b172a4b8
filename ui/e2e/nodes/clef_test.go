//go:build unix

package nodes

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

var clefProgram = flag.String("clef", "", "have this clef sign for an operator, a path")

// clefs are processes of geth's signer with one store of keys, one for each chain.
type clefs struct {
	*testing.T
	dir string
	url map[string]string // by chain
}

// pass guards the keys of a test.
const pass = "a passphrase of a test"

// newClefs starts them with keys and rules.
func newClefs(t *testing.T, rules string, keys []*ecdsa.PrivateKey, ids ...string) *clefs {
	t.Helper()
	if *clefProgram == "" {
		t.Skip("no -clef PATH is given; .ci/run nodes gives one")
	}
	c := &clefs{T: t, dir: t.TempDir(), url: map[string]string{}}
	c.runs("init")
	for _, key := range keys {
		file := c.writes("key", hex.EncodeToString(crypto.FromECDSA(key)))
		c.runs("importraw", file)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		c.runs("setpw", crypto.PubkeyToAddress(key.PublicKey).Hex())
	}
	file := c.writes("rules.js", rules)
	c.runs("attest", fmt.Sprintf("%x", sha256.Sum256([]byte(rules))))
	for _, id := range ids {
		cmd := c.command("--chainid", id, "--rules", file, "--http", "--http.port", "0", "--ipcdisable")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if _, err := io.WriteString(in, pass+"\n"); err != nil {
			t.Fatal(err)
		}
		opened, said := regexp.MustCompile(`HTTP endpoint opened +url=(http://127\.0\.0\.1:\d+)`), ""
		for lines := bufio.NewScanner(out); c.url[id] == "" && lines.Scan(); said += lines.Text() + "\n" {
			if m := opened.FindStringSubmatch(lines.Text()); m != nil {
				c.url[id] = m[1]
			}
		}
		if c.url[id] == "" || !strings.Contains(said, "Rule engine configured") {
			t.Fatal(said)
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()
	}
	return c
}

func (c *clefs) writes(name, text string) string {
	c.Helper()
	file := filepath.Join(c.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	return file
}

func (c *clefs) command(args ...string) *exec.Cmd {
	cmd := exec.Command(*clefProgram, append([]string{"--configdir", filepath.Join(c.dir, "config"), "--keystore",
		filepath.Join(c.dir, "keys"), "--suppress-bootwarn", "--lightkdf", "--nousb"}, args...)...)
	cmd.Dir = c.dir
	return cmd
}

// runs runs a command of clef, which reads what it asks for from its input.
func (c *clefs) runs(args ...string) {
	c.Helper()
	cmd := c.command(args...)
	cmd.Stdin = strings.NewReader(strings.Repeat(pass+"\n", 3))
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// Clef has an operator's hot key and attester's key, and the rules of docs/networks.md. Calls are paid on another
// chain, filled, and their deposits released. The rules refuse what moves coins and what cannot be decoded; no file of
// the operator has either key.
func TestClefSignsForAnOperator(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	var keys []*ecdsa.PrivateKey
	var who []common.Address
	for range 2 {
		key, err := crypto.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		keys, who = append(keys, key), append(who, crypto.PubkeyToAddress(key.PublicKey))
	}
	page, err := os.ReadFile("../../../docs/networks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rules, _ := strings.Cut(string(page), "```js\n")
	rules, _, _ = strings.Cut(rules, "```")
	c := newClefs(t, rules, keys, "10", base)

	o := newOperatedBy(t, running{keys: fmt.Sprintf(`
[operator.hot_key]
signer = "clef"
url = %q
address = %q
chains = { %s = %q }
[operator.attester_key]
signer = "clef"
url = %[1]q
address = %[5]q
`, c.url["10"], who[0].Hex(), base, c.url[base], who[1].Hex())}, (*world).direct, []string{"10"}, "10", base)
	if o.hot != who[0] {
		t.Errorf("it sends as %s", o.hot)
	}
	var payees []common.Address
	for n := range int64(2) {
		payees = append(payees, payee(n+1))
		o.completes(o.calls(base, payees[n], "130")...)
		if has := o.owns(base, payees[n]); has != 130e6 {
			t.Errorf("%d millionths arrived", has)
		}
	}
	if fills := o.settled(payees...); fills != 2 {
		t.Errorf("%d deliveries", fills)
	}
	record, err := os.ReadFile(filepath.Join(c.dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"SignTransaction", "SignData", "SignTypedData"} {
		if !strings.Contains(string(record), asked) {
			t.Errorf("clef was not asked for %s\n%s", asked, record)
		}
	}
	for _, tx := range []struct {
		to          common.Address
		value, data string
		signed      bool
	}{
		{who[0], "0x0", "0x", true}, {who[0], "0x1", "0x", false}, {o.filler, "0x0", "0x", false},
		{o.filler, "0x0", "0xdeadbeef", false},
	} {
		err := post(t.Context(), c.url["10"], nil, "account_signTransaction", map[string]any{
			"from": who[0].Hex(), "to": tx.to.Hex(), "value": tx.value, "input": tx.data, "gas": "0x5208",
			"nonce": "0x0", "maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x1", "chainId": "0xa"})
		if (err == nil) != tx.signed {
			t.Errorf("%+v: %v", tx, err)
		}
	}
	for _, dir := range []string{o.dir, o.data} {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			raw, _ := os.ReadFile(file)
			for _, key := range keys {
				if secret := crypto.FromECDSA(key); strings.Contains(string(raw), string(secret)) ||
					strings.Contains(strings.ToLower(string(raw)), hex.EncodeToString(secret)) {
					t.Errorf("%s has a key", file)
				}
			}
		}
	}
}
