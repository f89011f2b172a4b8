//go:build unix

package nodes

import (
	"bufio"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/ui/e2e/rig"
)

var gethProgram = flag.String("geth", "", "run on this geth as well, a path")

// geth starts one on a genesis file that the program writes, changed by a test, which makes a block a second.
func (w *world) geth(id string, change func(alloc map[string]jsontext.Value)) {
	w.Helper()
	if *gethProgram == "" {
		w.Skip("no -geth PATH is given; .ci/run nodes gives one")
	}
	file, data := filepath.Join(w.dir, "genesis.json"), filepath.Join(w.dir, "geth")
	rig.Script{T: w.T, Env: w.env}.Runs(0, "network", "genesis", "--chain-id", id, "--fund", richAddress, "--out", file)
	raw, err := os.ReadFile(file)
	w.ok(err)
	var genesis, alloc map[string]jsontext.Value
	w.ok(json.Unmarshal(raw, &genesis))
	w.ok(json.Unmarshal(genesis["alloc"], &alloc))
	change(alloc)
	genesis["alloc"], err = json.Marshal(alloc)
	w.ok(err)
	raw, err = json.Marshal(genesis)
	w.ok(err)
	w.writes(file, string(raw))
	if out, err := exec.Command(*gethProgram, "--datadir", data, "init", file).CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(*gethProgram, "--dev", "--dev.period", "1", "--datadir", data, "--http", "--http.addr",
		"127.0.0.1", "--http.port", "0", "--nodiscover", "--port", "0", "--authrpc.port", "0", "--ipcdisable")
	log, err := cmd.StderrPipe()
	w.ok(err)
	w.ok(cmd.Start())
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	begins := regexp.MustCompile(`HTTP server started +endpoint=(127\.0\.0\.1:\d+)`)
	for lines := bufio.NewScanner(log); w.url[id] == "" && lines.Scan(); {
		if m := begins.FindStringSubmatch(lines.Text()); m != nil {
			w.url[id] = "http://" + m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
}

// richAddress is that of richKey.
const richAddress = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

// On geth, the genesis file of the program has everything, and every kind of account pays.
func TestEveryKindOfAccountPaysOnGeth(t *testing.T) {
	t.Parallel()
	everyKindPays(newWorldOn(t, func(w *world) { w.geth(base, func(map[string]jsontext.Value) {}) }, base))
}

// On a geth with nothing but a funded key and the deterministic deployer, the program puts the contracts where they are
// on every chain, once.
func TestGethGetsTheSameContractsOnce(t *testing.T) {
	t.Parallel()
	var all []string
	w := newWorldOn(t, func(w *world) {
		w.geth(base, func(alloc map[string]jsontext.Value) {
			for at := range alloc {
				switch "0x" + strings.TrimPrefix(strings.ToLower(at), "0x") {
				case strings.ToLower(richAddress), "0x4e59b44847b379578588920ca78fbf26c0b4956c":
				default:
					all = append(all, strings.TrimPrefix(strings.ToLower(at), "0x"))
					delete(alloc, at)
				}
			}
		})
	}, base)
	file := w.names(w.direct)
	w.deploys(file)
	out, _ := rig.Script{T: t, Env: w.env}.Runs(0, "network", "check", "--file", file)
	found := 0
	for _, at := range all {
		if strings.Contains(strings.ToLower(out), at) {
			found++
		}
	}
	if found < 8 {
		t.Errorf("%d of the contracts of the genesis file are at their addresses %s:\n%s", found, all, out)
	}
	if out := w.deploys(file); !strings.Contains(out, "nothing is missing on 1 chain") {
		t.Errorf("a second run says\n%s", out)
	}
}
