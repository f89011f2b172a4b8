package evm

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

const crashFile = "COFFER_TEST_SEAL_UNTIL_KILLED"

// TestMain lets the test binary play the process that gets killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := sealUntilKilled(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func crashSpec() Spec {
	return Spec{ChainID: 8453, Time: genesisTime, Alloc: []Account{
		{Address: addr(treasury()), Balance: tenToThe18(1000)}}}
}

// sealUntilKilled reports every block on its standard output after Seal has
// promised that it is kept.
func sealUntilKilled(path string) error {
	s, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		return err
	}
	c, err := Open(s, crashSpec())
	if err != nil {
		return err
	}
	for {
		b, err := c.Seal(context.Background(), chain.SealRequest{
			Time: c.Head().Time + 1, Txs: []chain.Tx{pay(treasury(), addr(key(1)), 1)},
			Record: func(tx store.Tx, b chain.Block) error {
				return tx.Bucket("record").Put([]byte("number"), numberKey(b.Number))
			},
		})
		if err != nil {
			return err
		}
		fmt.Println(b.Number)
	}
}

// A killed process leaves whole blocks: everything that Seal promised, the
// record of exactly the last one, and a state that replays.
func TestKilledProcessLeavesWholeBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chain.db")
	var last uint64
	for round := range 4 {
		last = killAfter(t, path, last+uint64(5+round*7))
		s := boltStore(t, path)
		c := openTest(t, s, crashSpec())
		if c.Head().Number < last {
			t.Fatalf("block %d was promised, the head is %d", last, c.Head().Number)
		}
		last = c.Head().Number
		if n, err := c.Verify(context.Background()); err != nil || n != last {
			t.Fatalf("replay to %d of %d: %v", n, last, err)
		}
		_ = s.View(func(tx store.Tx) error {
			if got := tx.Bucket("record").Get([]byte("number")); string(got) != string(numberKey(last)) {
				t.Errorf("record says %x, the head is %d", got, last)
			}
			return nil
		})
		s.Close()
	}
}

// killAfter kills a sealing process once it has reported block n and returns
// the last block that it reported.
func killAfter(t *testing.T, path string, n uint64) (last uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashFile+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &last); err != nil {
			t.Fatal(err)
		}
		if last == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	if last < n {
		t.Fatalf("the process stopped at block %d", last)
	}
	return last
}
