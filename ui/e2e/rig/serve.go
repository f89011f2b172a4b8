//go:build unix

package rig

import (
	"bufio"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api/service/crash/traffic"
)

// Serving is the line that `coffer serve --json` prints.
type Serving = traffic.Served

// Serve starts the service in a process of its own, with more flags if any, and returns the line that it printed.
func Serve(
	t *testing.T, env []string, more ...string,
) (cmd *exec.Cmd, out *bufio.Reader, line string, logs *strings.Builder) {
	t.Helper()
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--json", "--host", "wallet.test"}
	return Begins(t, env, append(args, more...))
}

// Devnet starts `coffer devnet` with free ports and returns its line of JSON.
func Devnet(t *testing.T, env []string, more ...string) (cmd *exec.Cmd, line string) {
	t.Helper()
	cmd, _, line, _ = Begins(t, env, append([]string{"devnet", "--listen", "127.0.0.1:0", "--json"}, more...))
	return cmd, line
}

// Begins starts the program and reads its first line. It is killed at the end of the test, unless it has ended.
func Begins(t *testing.T, env, args []string) (cmd *exec.Cmd, out *bufio.Reader, line string, logs *strings.Builder) {
	t.Helper()
	cmd = exec.Command(Program(), args...)
	logs = new(strings.Builder)
	cmd.Env, cmd.Stderr = env, logs
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	out = bufio.NewReader(stdout)
	line, err = out.ReadString('\n')
	must(t, err)
	return cmd, out, line, logs
}

// Where reads a served line, and the certificate authority that it names.
func Where(t *testing.T, line string) (at Serving, roots *x509.CertPool) {
	t.Helper()
	must(t, json.Unmarshal([]byte(line), &at))
	roots, err := at.Roots()
	must(t, err)
	return at, roots
}

// Interrupt sends a process an interrupt, and demands that it ends well.
func Interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// KeysOf runs `coffer serve keys` and decodes what it prints.
func KeysOf(t *testing.T, env []string, into any, args ...string) (text string) {
	t.Helper()
	out, errs, code := Run(t, env, append([]string{"serve", "keys"}, append(args, "--json")...)...)
	if code != 0 {
		t.Fatalf("%v: code %d, %s", args, code, errs)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// Scrape asks for the metrics of a served line.
func Scrape(t *testing.T, line string) string {
	t.Helper()
	at, _ := Where(t, line)
	if !strings.HasPrefix(at.MetricsURL, "http://127.0.0.1:") {
		t.Fatal(line)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.MetricsURL, nil)
	must(t, err)
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	must(t, err)
	text, err := io.ReadAll(res.Body)
	must(t, errors.Join(err, res.Body.Close()))
	return string(text)
}
