//go:build linux

package sshci

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"coffer/ui/termtest"
)

// counted counts what a client reads and writes on the wire.
type counted struct {
	net.Conn
	read, wrote *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wrote.Add(int64(n))
	return n, err
}

// teamClient is a dashboard in this process, with everything counted.
type teamClient struct {
	term        *termtest.Terminal
	read, wrote atomic.Int64
	close       func()
	took        time.Duration // from the first packet to the first whole frame
}

func (s *teamServer) counted(signer gossh.Signer, cols, rows int) (*teamClient, error) {
	begun := time.Now()
	raw, err := net.Dial("tcp", s.at.SSH.Address)
	if err != nil {
		return nil, err
	}
	c := &teamClient{}
	conn, chans, requests, err := gossh.NewClientConn(counted{raw, &c.read, &c.wrote}, s.at.SSH.Address,
		&gossh.ClientConfig{
			User: "anybody", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)},
			HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: limit, // measured, not trusted
		})
	if err != nil {
		return nil, err
	}
	client := gossh.NewClient(conn, chans, requests)
	sess, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	in, errIn := sess.StdinPipe()
	out, errOut := sess.StdoutPipe()
	if err := errors.Join(errIn, errOut, sess.RequestPty("xterm-256color", rows, cols, nil), sess.Shell()); err != nil {
		return nil, err
	}
	c.close = func() { _ = client.Close() }
	c.term = termtest.Attach(termtest.Far{
		In: in, Out: out, Wait: sess.Wait, Resize: func(cols, rows int) error { return sess.WindowChange(rows, cols) },
		End: func(bool) { c.close() },
	}, cols, rows)
	if err := c.term.WaitFor(limit, "LAB", "USDC", "$"); err != nil {
		return nil, err
	}
	c.took = time.Since(begun)
	return c, c.term.Still(300*time.Millisecond, limit)
}

// teamMemory is the resident memory of a process in MiB, and its processor time.
func teamMemory(t *testing.T, pid int) (mib float64, cpu time.Duration) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))
	kb, _ := strconv.Atoi(m[1])
	sched, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(sched[strings.LastIndexByte(string(sched), ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return float64(kb) / 1024, time.Duration(user+system) * tick
}

// TestTeamFigures measures what a guest costs: go test ./.ci/ssh -run TestTeamFigures -v
func TestTeamFigures(t *testing.T) {
	const guests, presses, idle = 20, 20, 15 * time.Second
	s := newTeam(t)
	signers := make([]gossh.Signer, guests)
	var lines strings.Builder
	for i := range signers {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signers[i], err = gossh.NewSignerFromKey(key); err != nil {
			t.Fatal(err)
		}
		lines.Write(gossh.MarshalAuthorizedKey(signers[i].PublicKey()))
	}
	if err := os.WriteFile(s.keys, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start("--log-level", "warn")
	pid := s.cmd.Process.Pid
	warm, err := s.counted(signers[0], 120, 40) // what the first guest of all brings with it is not per guest
	if err != nil {
		t.Fatal(err)
	}
	warm.close()
	_ = warm.term.WaitExit(limit)
	before, _ := teamMemory(t, pid)

	first, err := s.counted(signers[1], 120, 40)
	if err != nil {
		t.Fatal(err)
	}
	drawn, _ := first.term.Written()
	t.Logf("one guest, 120×40: first frame after %d ms; %d bytes drawn, %d bytes received and %d sent on the wire "+
		"with the handshake",
		first.took.Milliseconds(), drawn, first.read.Load(), first.wrote.Load())
	teamKeys(t, first, presses)

	all := make([]*teamClient, guests)
	all[1] = first
	var group sync.WaitGroup
	begun := time.Now()
	for i := range all {
		if i == 1 {
			continue
		}
		group.Go(func() {
			var err error
			if all[i], err = s.counted(signers[i], 120, 40); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d guests at once: the last one has its first frame after %s (which held still for 300 ms)", guests,
		time.Since(begun).Round(10*time.Millisecond))
	after, cpuBefore := teamMemory(t, pid)
	t.Logf("memory (RSS): %.1f MiB before, %.1f MiB with %d: %.2f MiB for each", before, after, guests,
		(after-before)/guests)
	var read, wrote, shown int64
	for _, c := range all {
		read -= c.read.Load()
		wrote -= c.wrote.Load()
		n, _ := c.term.Written()
		shown -= int64(n)
	}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	<-timer.C
	_, cpuAfter := teamMemory(t, pid)
	for _, c := range all {
		read += c.read.Load()
		wrote += c.wrote.Load()
		n, _ := c.term.Written()
		shown += int64(n)
	}
	t.Logf("%d guests who do nothing for %s: %.2f %% of a processor, %d bytes drawn, %d bytes received and %d sent "+
		"on the wire",
		guests, idle, 100*(cpuAfter-cpuBefore).Seconds()/idle.Seconds(), shown, read, wrote)
	for _, c := range all {
		c.close()
	}
}

// teamKeys presses keys that move the cursor and tells what each costs.
func teamKeys(t *testing.T, c *teamClient, presses int) {
	t.Helper()
	drawn, _ := c.term.Written()
	read, wrote := c.read.Load(), c.wrote.Load()
	var took time.Duration
	for i := range presses {
		n, _ := c.term.Written()
		key := "\x1b[B"
		if i%2 == 1 {
			key = "\x1b[A"
		}
		begun := time.Now()
		if err := errors.Join(c.term.Type(key), c.term.WaitWritten(n, limit)); err != nil {
			t.Fatal(err)
		}
		took += time.Since(begun)
		if err := c.term.Still(100*time.Millisecond, limit); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := c.term.Written()
	t.Logf("a key that moves the cursor: %d bytes drawn, %d bytes received and %d sent on the wire, %.1f ms to the "+
		"first byte of the answer",
		(now-drawn)/presses, (c.read.Load()-read)/int64(presses), (c.wrote.Load()-wrote)/int64(presses),
		float64(took.Microseconds())/1000/float64(presses))
}
