package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"coffer/api/client/httplog"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/ui/tui"
	"coffer/ui/tui/screen"
	"coffer/wallet/journal"
)

// Visit is a dashboard that runs here and is shown on another user's terminal. That user is a guest of this machine:
// the visit has its own profile, and no action of the guest reads or writes a file that the guest names.
type Visit struct {
	Profile *profile.Opened // closed when the visit ends
	Log     *httplog.Log
	Build   cli.Build
	Machine string

	In     io.Reader
	Out    io.Writer
	Env    []string
	Away   tui.Away
	Broken func(what any, stack []byte) // receives a panic, which ends the visit alone
}

const (
	noFiles  = "this dashboard runs on a server: no files are read or written there for you"
	noSwitch = "this dashboard runs on a server and shows this one account"

	// The full error names paths of this machine, which a guest must not see.
	guestReadOnly = "your journal on this server cannot be written, so nothing can be signed; tell the operator"
)

// Receive shows a visit until the guest leaves or ctx ends, when its keys are wiped at once, whatever its terminal
// does.
func Receive(ctx context.Context, v Visit) (err error) {
	d := &opened{
		o: Options{Build: v.Build, Env: v.Env, Machine: v.Machine}, s: v.Profile, log: v.Log,
		file: config.File{UI: v.Profile.UI()}, visit: &v,
	}
	defer context.AfterFunc(ctx, v.Profile.Wipe)()
	if err := d.start(); err != nil {
		return errors.Join(forGuest(err), v.Profile.Close())
	}
	defer func() { err = errors.Join(err, d.close()) }()
	life, end := context.WithCancel(ctx)
	defer end()
	reconciled := make(chan struct{})
	go func() {
		defer close(reconciled)
		defer func() {
			if what := recover(); what != nil && v.Broken != nil {
				v.Broken(what, debug.Stack())
			}
		}()
		_, _ = d.flow.Reconcile(life) // the snapshots have what it finds
	}()
	defer func() { end(); <-reconciled }()
	var nowhere *screen.SwitchMsg
	o := d.options(&nowhere)
	v.Away.Broken = v.Broken
	o.In, o.Out, o.Away, o.NoSwitch, o.Switch, o.Suspended = v.In, v.Out, &v.Away, noSwitch, nil, nil
	if d.book.ReadOnly() != nil {
		o.Notice = guestReadOnly
	}
	err = tui.Run(ctx, o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// restrict takes away what a guest must not do.
func (v *Visit) restrict(c *screen.Context) {
	c.Export, c.NoFiles = nil, noFiles
	c.Keep = bounded{c.Keep}
	c.Vault.Where =
		"the server's memory while you are here: a throw-away key made from your SSH key"
	if v.Profile.ReadOnly() != "" {
		c.Vault.Where = "nowhere: no key to sign with is loaded"
	}
}

// forGuest puts an error of the journal into words for a guest, without the paths of this machine.
func forGuest(err error) error {
	if errors.Is(err, journal.ErrLocked) {
		return guestError{
			"your journal is in use by another process on the server; try again in a moment, or tell the operator", err}
	}
	return guestError{"your journal on the server cannot be opened; tell the operator, whose log has the reason", err}
}

// guestError is an error in words for a guest, with the full error for the log.
type guestError struct {
	words string
	of    error
}

// Error is the text for the guest.
func (e guestError) Error() string { return e.words }

// Whole is the text for the operator.
func (e guestError) Whole() string { return e.of.Error() }

// Unwrap returns the full error.
func (e guestError) Unwrap() error { return e.of }

// maxKept bounds a document that a guest's screens keep on the server, in bytes.
const maxKept = 1 << 20

// bounded keeps documents up to maxKept.
type bounded struct{ screen.Keep }

// Save refuses a document that is too large.
func (b bounded) Save(name string, data []byte) error {
	if len(data) > maxKept {
		return fmt.Errorf("the server keeps %d bytes at most", maxKept)
	}
	return b.Keep.Save(name, data)
}
