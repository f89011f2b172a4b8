package keys

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"coffer/ui/cli"
)

// baseNode is a node of Base at block 9.
func baseNode(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var calls []struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if many := json.Unmarshal(raw, &calls) == nil; !many {
			raw = append(append([]byte("["), raw...), ']')
			_ = json.Unmarshal(raw, &calls)
		}
		var out []map[string]any
		for _, c := range calls {
			out = append(out, map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": map[string]any{
				"eth_chainId": "0x2105", "eth_getBlockByNumber": map[string]any{"number": "0x9",
					"hash": "0x" + strings.Repeat("09", 32), "timestamp": "0x1"}}[c.Method]})
		}
		w.Header().Set("Content-Type", "application/json")
		if len(out) == 1 {
			_ = json.NewEncoder(w).Encode(out[0])
			return
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Nodes are named by command and asked; one that serves another chain, or a chain that the network lacks, is not
// written down, and a silent one is.
func TestNodesOfAProfileAreNamedAndAsked(t *testing.T) {
	d, at := newDesk(t), baseNode(t)
	d.write("config.toml", []byte("version = 1\ndefault = \"team\"\n[profiles.team]\nkind = \"lab\"\nvault = "+
		"\"memory\"\nbase_url = \"https://wallet.invalid/api\"\nnetwork_file = \""+d.dir+"/network.json\"\n"), 0o600)
	config := func() string {
		raw, err := os.ReadFile(d.dir + "/config.toml")
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	before := config()
	for _, c := range []struct{ node, want string }{
		{"op=" + at, "it serves chain 8453, not 10"},
		{"4242=" + at, "serves chain 8453, not 4242"},
		{"4242=http://127.0.0.1:1", "which its network does not have"},
		{"foo=" + at, "is no chain that this program knows"},
		{"base=http://node.example", "http is for this machine only"},
	} {
		if code := d.run("profile", "nodes", "--add", c.node); code == 0 ||
			!strings.Contains(d.said.String(), c.want) || config() != before {
			t.Errorf("%s: code %d, %s", c.node, code, &d.said)
		}
	}
	if code := d.run("profile", "nodes", "--add", "base="+at, "--add", "op=http://127.0.0.1:1"); code != 0 ||
		!strings.Contains(d.out.String(), "Base") || !strings.Contains(d.out.String(), "block 9") ||
		!strings.Contains(d.out.String(), "it refuses the connection") {
		t.Fatalf("code %d\n%s%s", code, &d.out, &d.said)
	}
	if code := d.run("profile", "nodes", "--json"); code != 0 || !strings.Contains(d.out.String(),
		`{"chain":"eip155:8453","host":"`+at+`","block":9}`) {
		t.Errorf("code %d: %s", code, &d.out)
	}
	if code := d.run("profile", "nodes", "--remove", "137"); code != cli.ExitUsage {
		t.Errorf("a chain without a node: code %d", code)
	}
	if code := d.run("profile", "nodes", "--remove", "8453", "--remove", "Optimism"); code != 0 || config() != before {
		t.Errorf("code %d: %s", code, config())
	}
	if code := d.run("profile", "add", "other", "--kind", "lab", "--url", "https://wallet.invalid/api",
		"--network-file", d.dir+"/network.json", "--vault", "memory", "--node", "op="+at); code == 0 ||
		config() != before {
		t.Errorf("a node of another chain: code %d, %s", code, &d.said)
	}
}
