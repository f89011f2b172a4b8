//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coffer/ui/termtest"
)

// patience bounds each wait for the screen.
const patience = time.Minute

// walker is somebody who walks through the demo and takes pictures.
type walker struct {
	term *termtest.Terminal
	out  string
	err  error
}

// pictures walks from an empty home to a completed call, and to the other screens.
func pictures(ctx context.Context, out string) error {
	if err := os.MkdirAll(out, 0o750); err != nil { //nolint:gosec // the directory that the person names
		return err
	}
	w, done, err := atDemo(ctx, 100, 30)
	if err != nil {
		return err
	}
	defer done()
	w.out = out
	w.walk()
	return w.err
}

// atDemo starts the real program in an empty home.
func atDemo(ctx context.Context, cols, rows int) (w *walker, done func(), err error) {
	dir, err := os.MkdirTemp("", "coffer-screens")
	if err != nil {
		return nil, nil, err
	}
	clean := func() { _ = os.RemoveAll(dir) }
	program := filepath.Join(dir, "coffer")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".") //nolint:gosec // into a directory of its own
	if text, err := build.CombinedOutput(); err != nil {
		clean()
		return nil, nil, fmt.Errorf("build: %w\n%s", err, text)
	}
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // the program that was just built
	cmd.Env = []string{"HOME=" + dir, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	term, err := termtest.Start(cmd, cols, rows)
	if err != nil {
		clean()
		return nil, nil, err
	}
	return &walker{term: term}, func() { term.Close(); clean() }, nil
}

// toReview1 builds the trial call and asks for its review.
func (w *walker) toReview1() {
	w.sees("EMBEDDED", "USDC", "$")
	w.types("2")
	w.sees("trial call")
	w.types("d")
	w.sees("elsewhere")
	w.types("r")
	w.sees("Review 1 of 2", "y sign")
}

func (w *walker) walk() {
	w.sees("EMBEDDED", "USDC", "$")
	w.types("j")
	w.picture("balances")
	w.types("r")
	w.sees("Receive", "Send to it")
	w.picture("receive")
	w.types("\x1b")
	w.sees("largest first")
	w.types("2")
	w.sees("trial call")
	w.types("d")
	w.sees("elsewhere")
	w.picture("build")
	w.types("5")
	w.sees("Quote lab")
	w.types("r")
	if w.err == nil {
		w.err = w.term.WaitUntil("every variant to be asked", patience,
			func(screen string) bool { return !strings.Contains(screen, "not asked") })
	}
	w.picture("lab")
	w.types("2")
	w.sees("needs")
	w.types("r")
	w.sees("Review 1 of 2", "y sign")
	w.picture("review-1")
	w.reads()
	w.types("y")
	w.sees("Review 2 of 2", "You pay")
	w.picture("review-2")
	w.reads()
	w.types(w.finds(`type ([0-9.]+) and press enter`) + "\r")
	w.sees("COMPLETED")
	w.picture("activity")
	w.types("4")
	w.sees("completed")
	w.picture("history")
	w.types("6")
	w.sees("Accounts")
	w.picture("accounts")
	w.types("qq")
}

func (w *walker) sees(texts ...string) {
	if w.err == nil {
		w.err = w.term.WaitFor(patience, texts...)
	}
}

func (w *walker) types(keys string) {
	if w.err == nil {
		w.err = w.term.Type(keys)
	}
}

func (w *walker) finds(pattern string) (found string) {
	if w.err == nil {
		found, w.err = w.term.Find(patience, pattern)
	}
	return found
}

// reads scrolls to the end of a review and lets its countdown move twice.
func (w *walker) reads() {
	if w.err == nil {
		w.err = w.term.ReadReview(patience, `(?:closes|expires) in (\d+:\d\d)`)
	}
}

// picture waits until the screen holds still and writes it.
func (w *walker) picture(name string) {
	if w.err == nil {
		w.err = w.term.Still(300*time.Millisecond, patience)
	}
	if w.err == nil {
		w.err = os.WriteFile(filepath.Join(w.out, name+".svg"), svg(w.term.Cells()), 0o600)
	}
	if w.err == nil {
		fmt.Fprintln(os.Stderr, "  "+name, strings.Repeat(".", 20-len(name)), "written")
	}
}
