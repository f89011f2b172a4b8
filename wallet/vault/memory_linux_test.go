//go:build !race

// The race detector keeps shadows of all memory, which would be searched as well.

package vault

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// halves are a key that is never whole in the test's own memory: byte i is a[i]^b[i].
type halves struct{ a, b [32]byte }

func newHalves(t *testing.T) *halves {
	t.Helper()
	h := new(halves)
	if _, err := rand.Read(h.a[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := rand.Read(h.b[:]); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *halves) raw(i int) byte { return h.a[i] ^ h.b[i] }

// key joins the halves for whoever takes the key over and wipes it.
func (h *halves) key() secret.Secret {
	out := make([]byte, 32)
	for i := range out {
		out[i] = h.raw(i)
	}
	return secret.New(out)
}

// Read gives the key as random bytes once, and true randomness afterwards.
func (h *halvesSource) Read(p []byte) (int, error) {
	if h.drawn || len(p) != 32 {
		return rand.Read(p)
	}
	h.drawn = true
	for i := range p {
		p[i] = h.raw(i)
	}
	return len(p), nil
}

type halvesSource struct {
	*halves
	drawn bool
}

// digit is character i of the key in hexadecimal.
func (h *halves) digit(i int) byte { return "0123456789abcdef"[h.raw(i/2)>>(4*(1-i%2))&15] }

// symbol is character i of the key in base64, up to the last whole one.
func (h *halves) symbol(i int) byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	bit := 6 * i
	return alphabet[(int(h.raw(bit/8))<<8|int(h.raw(bit/8+1)))>>(10-bit%8)&63]
}

// hits are the places where a key stands: as bytes, in hexadecimal and in base64.
type hits struct{ raw, hex, base64 int }

func (h hits) all() int { return h.raw + h.hex + h.base64 }

func (h hits) String() string {
	return fmt.Sprintf("%d as bytes, %d in hex, %d in base64", h.raw, h.hex, h.base64)
}

// search looks for the key in all memory that this process may write. The buffer is outside of Go's heap and is not
// searched itself.
func (h *halves) search(t *testing.T) (found hits) {
	t.Helper()
	const step, overlap = 1 << 20, 64
	buf, err := unix.Mmap(-1, 0, step+overlap, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(buf) }()
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mem.Close() }()
	first := [3]byte{h.raw(0), h.digit(0), h.symbol(0)}
	for _, r := range writable(t, buf) {
		for at := r[0]; at < r[1]; at += step {
			n, err := mem.ReadAt(buf[:min(step+overlap, r[1]-at)], int64(at))
			if err != nil && n == 0 {
				break // a guard page
			}
			for i, c := range buf[:min(n, step)] {
				switch rest := buf[i:n]; {
				case c == first[0] && stands(rest, 32, h.raw):
					found.raw++
				case (c == first[1] || c == first[1]&^0x20) && stands(rest, 64, h.digit):
					found.hex++
				case c == first[2] && stands(rest, 42, h.symbol):
					found.base64++
				}
			}
		}
	}
	return found
}

// stands reports whether b begins with n characters; the letters of hexadecimal may be capitals.
func stands(b []byte, n int, at func(int) byte) bool {
	if len(b) < n {
		return false
	}
	for i := range n {
		if b[i] != at(i) && (n != 64 || b[i]|0x20 != at(i)) {
			return false
		}
	}
	return true
}

// writable lists the readable and writable parts of the address space, without the buffer.
func writable(t *testing.T, buf []byte) [][2]uint64 {
	t.Helper()
	own := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf))))
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out [][2]uint64
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uint64
		var mode string
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s", &from, &to, &mode); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(mode, "rw") {
			continue
		}
		if own >= from && own < to { // the system may have joined it with its neighbours
			out = append(out, [2]uint64{from, own})
			from = own + uint64(len(buf))
		}
		if from < to {
			out = append(out, [2]uint64{from, to})
		}
	}
	return out
}

// TestK4TheSearchFindsAKeyThatIsThere: a search that finds nothing proves something only if it finds what is there.
func TestK4TheSearchFindsAKeyThatIsThere(t *testing.T) {
	h := newHalves(t)
	key := h.key()
	text, encoded := []byte(hex.EncodeToString(key.Reveal())), []byte(base64.StdEncoding.EncodeToString(key.Reveal()))
	if found := h.search(t); found.raw < 1 || found.hex < 1 || found.base64 < 1 {
		t.Fatal(found)
	}
	runtime.KeepAlive(text)
	runtime.KeepAlive(encoded)
	runtime.KeepAlive(key)
}

// TestK4AfterUseTheKeyIsGoneFromMemory adds a key to each kind of vault, uses it, locks the vault and counts what is
// left. Without the runtime's help two copies as bytes are tolerated, on stacks that were left or in memory that was
// not used again; with it none.
func TestK4AfterUseTheKeyIsGoneFromMemory(t *testing.T) {
	for _, backend := range []Backend{BackendFile, BackendKeyring, BackendKeyringOnly} {
		v := newBench(t).created(t, backend)
		h := newHalves(t)
		useHalves(t, v, h, addHalves(t, v, h))
		used := h.search(t)
		v.Lock()
		left := collected(t, h)
		t.Logf("%s, erasing runtime %v: right after use %s; locked and collected %s", backend, guard.Erases, used, left)
		if guard.Erases && left.all() > 0 || left.raw > 2 || left.hex+left.base64 > 0 {
			t.Errorf("%s: copies are left: %s", backend, left)
		}
	}
}

func collected(t *testing.T, h *halves) hits {
	t.Helper()
	runtime.GC()
	runtime.GC()
	return h.search(t)
}

//go:noinline
func addHalves(t *testing.T, v *Vault, h *halves) (address string) {
	t.Helper()
	var err error
	guard.Do(func() {
		var item Item
		item, err = v.Add(context.Background(), EVM, h.key(), "")
		address = strings.Clone(item.Address)
	})
	if err != nil {
		t.Fatal(err)
	}
	return address
}

//go:noinline
func useHalves(t *testing.T, v *Vault, h *halves, address string) {
	t.Helper()
	if err := v.Use(context.Background(), here, address, func(key secret.Secret) error {
		if !stands(key.Reveal(), 32, h.raw) {
			return errors.New("another key")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestK4TheMasterKeyIsGoneWhenTheVaultIsLocked: the master key goes through the buffers of age, which cannot be wiped;
// without the runtime's help their copies stay until the memory is used again, and are counted.
func TestK4TheMasterKeyIsGoneWhenTheVaultIsLocked(t *testing.T) {
	h := newHalves(t)
	v := newBench(t).created(t, BackendFile, func(o *Options) { o.Random = &halvesSource{halves: h} })
	v.Lock()
	if err := v.Unlock(context.Background(), pass()); err != nil {
		t.Fatal(err)
	}
	if open := h.search(t); open.raw < 1 {
		t.Fatal("an open vault holds its master key, and the search did not find it")
	}
	v.Lock()
	left := collected(t, h)
	t.Logf("erasing runtime %v: %s", guard.Erases, left)
	if guard.Erases && left.all() > 0 || left.hex+left.base64 > 0 {
		t.Errorf("copies are left: %s", left)
	}
}

// TestK4ABackupLeavesNoKeyBehind does the same for a backup and its restoring, where age's buffers hold the keys in
// base64.
func TestK4ABackupLeavesNoKeyBehind(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	h := newHalves(t)
	addHalves(t, v, h)
	text, err := v.Backup(context.Background(), pass())
	if err != nil {
		t.Fatal(err)
	}
	to := newBench(t).created(t, BackendFile)
	if added, err := to.Restore(context.Background(), text, pass()); err != nil || len(added) != 1 {
		t.Fatal(added, err)
	}
	v.Lock()
	to.Lock()
	left := collected(t, h)
	t.Logf("erasing runtime %v: %s", guard.Erases, left)
	if guard.Erases && left.all() > 0 || left.raw > 2 || left.hex > 0 {
		t.Errorf("copies are left: %s", left)
	}
	_, _ = io.Discard.Write(text)
}
