package sshd

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// The only way in is a public key: no connection without one, with a password, or with answers.
func TestZ1NobodyComesInWithoutAKey(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{}, line(alice, "alice"))
	asked := false
	for name, auth := range map[string][]gossh.AuthMethod{
		"nothing":  nil,
		"password": {gossh.Password("")},
		"answers": {gossh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) {
			asked = true
			return nil, nil
		})},
	} {
		c, err := gossh.Dial("tcp", r.Addr.String(), config(auth...))
		if err == nil {
			_ = c.Close()
			t.Errorf("%s: admitted", name)
		} else if !strings.Contains(err.Error(), "unable to authenticate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked {
		t.Error("the server asks questions")
	}
}

func TestZ1AKeyIsAdmittedAsLongAsTheFileHasIt(t *testing.T) {
	alice, bob := newSigner(t), newSigner(t)
	r := serving(t, Options{}, line(alice, "alice@laptop"))
	if _, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(bob))); err == nil {
		t.Fatal("an unknown key was admitted")
	}
	g := opened(t, r.dial(alice))
	g.out.wait(t, "hello alice@laptop")
	writeKeys(t, r.dir, line(bob, "bob"))
	opened(t, r.dial(bob)).out.wait(t, "hello bob")
	if _, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(alice))); err == nil {
		t.Error("a key that was taken out of the file was admitted")
	}
	if err := os.Chmod(filepath.Join(r.dir, KeysFile), 0o666); err != nil { //nolint:gosec // on purpose
		t.Fatal(err)
	}
	if _, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(bob))); err == nil {
		t.Error("admitted by a file that others may write to")
	}
	if !strings.Contains(r.log.String(), "no key is admitted") || !strings.Contains(r.log.String(), "unknown key") {
		t.Errorf("the log is\n%s", r.log)
	}
}

// chameleon offers one key and proves another one: it changes between the question whether a key is acceptable and the
// signature.
type chameleon struct {
	gossh.Signer // proves
	offers       gossh.PublicKey
	asked        int
}

func (c *chameleon) PublicKey() gossh.PublicKey { return &coat{c.Signer.PublicKey(), c} }

type coat struct {
	gossh.PublicKey
	c *chameleon
}

// Marshal returns the offered key while the client asks with it and compares the answer, and its own key afterwards.
func (o *coat) Marshal() []byte {
	if o.c.asked++; o.c.asked <= 2 {
		return o.c.offers.Marshal()
	}
	return o.PublicKey.Marshal()
}

// faulty has a public key and signs wrongly.
type faulty struct{ gossh.Signer }

func (f faulty) Sign(random io.Reader, data []byte) (*gossh.Signature, error) {
	s, err := f.Signer.Sign(random, data)
	if err == nil {
		s.Blob[0] ^= 1
	}
	return s, err
}

// CVE-2024-45337: a client that offers other people's keys, which the server accepts as candidates, still counts as
// the one whose signature was checked.
func TestCVE2024_45337TheKeyThatCountsIsTheOneThatSigned(t *testing.T) {
	alice, victim := newSigner(t), newSigner(t)
	var mu sync.Mutex
	shown := map[string]bool{}
	r := serving(t, Options{Show: func(_ context.Context, v Visit) error {
		mu.Lock()
		shown[v.Name+" "+v.Fingerprint] = string(v.Key) == string(alice.PublicKey().Marshal())
		mu.Unlock()
		_, err := io.WriteString(v.Out, "hello "+v.Name+"\n")
		return err
	}}, line(alice, "alice"), line(victim, "victim"))
	offers := func(key gossh.Signer) gossh.Signer { return &chameleon{Signer: alice, offers: key.PublicKey()} }
	stranger := newSigner(t)
	for name, offered := range map[string][]gossh.Signer{
		"the victim's, then her own":               {offers(victim)},
		"a stranger's, the victim's, then her own": {stranger, offers(victim)},
		"her own": {alice},
	} {
		g := opened(t, r.dial(offered...))
		g.out.wait(t, "hello ")
		if strings.Contains(g.out.String(), "victim") {
			t.Errorf("%s: taken for the victim", name)
		}
		g.code()
	}
	if _, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(faulty{victim}))); err == nil {
		t.Error("an offer without a proof was admitted")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(shown) != 1 || !shown["alice "+gossh.FingerprintSHA256(alice.PublicKey())] {
		t.Errorf("dashboards were shown to %v", shown)
	}
	if dirs, _ := os.ReadDir(filepath.Join(r.dir, GuestsDir)); len(dirs) != 1 ||
		dirs[0].Name() != guestDir(alice.PublicKey().Marshal()) {
		t.Errorf("directories of guests: %v", dirs)
	}
}

func TestCertificatesAreRefusedAlsoOfAKeyThatIsAdmitted(t *testing.T) {
	alice, ca := newSigner(t), newSigner(t)
	r := serving(t, Options{}, line(alice, "alice"), line(ca, "ca"))
	cert := &gossh.Certificate{Key: alice.PublicKey(), CertType: gossh.UserCert, ValidPrincipals: []string{"anybody"},
		ValidBefore: gossh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewCertSigner(cert, alice)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(signer))); err == nil {
		t.Error("a certificate was admitted")
	}
}

func TestOnlyThisMachineUnlessSaidOtherwise(t *testing.T) {
	for address, x := range map[string]struct{ closed, open bool }{
		"127.0.0.1:2222": {true, true}, "[::1]:0": {true, true}, "localhost:22": {true, true},
		"0.0.0.0:2222": {false, true}, ":2222": {false, true},
		"[::]:22": {false, true}, "192.0.2.1:22": {false, true}, "wallet.example:22": {false, true}, "127.0.0.1": {},
		"127.0.0.1:ssh": {}, "127.0.0.1:65536": {}, "": {},
	} {
		if got := CheckAddress(address, false) == nil; got != x.closed {
			t.Errorf("%q: %v", address, got)
		}
		if got := CheckAddress(address, true) == nil; got != x.open {
			t.Errorf("%q, open: %v", address, got)
		}
	}
	dir := t.TempDir()
	writeKeys(t, dir, line(newSigner(t), "alice"))
	if _, err := Start(t.Context(), Options{Listen: "0.0.0.0:0", Dir: dir, Show: echo}); err == nil ||
		!strings.Contains(err.Error(), "--ssh-open") {
		t.Errorf("%v", err)
	}
}

// tcp opens a connection and says nothing.
func (r *rig) tcp() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.Addr.String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(limit))
	return c
}

// greeted reports whether the server began the handshake; a refused connection ends without a byte.
func greeted(c net.Conn) bool {
	var b [4]byte
	_, err := io.ReadFull(c, b[:])
	return err == nil && string(b[:]) == "SSH-"
}

// The limits by address count silent connections: they apply before the handshake.
func TestLimitsOfAnAddressWorkBeforeTheHandshake(t *testing.T) {
	t.Run("in a minute", func(t *testing.T) {
		r := serving(t, Options{Limits: Limits{Burst: 3, PerMinute: 1}}, line(newSigner(t), "alice"))
		for i := range 5 {
			c := r.tcp()
			if got := greeted(c); got != (i < 3) {
				t.Errorf("connection %d: greeted %v", i, got)
			}
			_ = c.Close()
		}
		if !strings.Contains(r.log.String(), "too many from one address in a minute") {
			t.Errorf("the log is\n%s", r.log)
		}
	})
	t.Run("at once", func(t *testing.T) {
		r := serving(t, Options{Sessions: 1, Limits: Limits{Burst: 100}}, line(newSigner(t), "alice"))
		most := (1 + spare) * 3 / 4
		for i := range most + 2 {
			if got := greeted(r.tcp()); got != (i < most) {
				t.Errorf("connection %d: greeted %v", i, got)
			}
		}
	})
}

func TestAConnectionThatShowsNoKeyOrOpensNothingIsClosed(t *testing.T) {
	alice := newSigner(t)
	hurried := serving(t, Options{Limits: Limits{Handshake: 100 * time.Millisecond}}, line(alice, "alice"))
	silent := hurried.tcp()
	if !greeted(silent) {
		t.Fatal("not greeted")
	}
	if _, err := io.ReadAll(silent); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("it stayed open: %v", err)
	}
	const waiting = 1500 * time.Millisecond
	r := serving(t, Options{Limits: Limits{Waiting: waiting}}, line(alice, "alice"))
	// While a dashboard is open the connection stays.
	g := opened(t, r.dial(alice))
	g.out.wait(t, "hello")
	ended := make(chan struct{})
	c := r.dial(alice)
	go func() { _ = c.Wait(); close(ended) }()
	within(t, "a connection without a dashboard", ended)
	idle := time.NewTimer(waiting / 2)
	defer idle.Stop()
	<-idle.C
	g.typed("x")
	g.out.wait(t, "<x>")
}
