//go:build unix

package job

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// contTime is how long stop waits for the signal that continues, twice. A stopped process does not run its timers, so
// the time passes only when the system did not stop it.
const contTime = 200 * time.Millisecond

// Job is this process as the shell above it sees it.
type Job struct {
	tstp chan os.Signal
	done chan struct{}
}

// Watch answers SIGTSTP from outside, until End. It calls suspended at once, off the event loop and even when the
// terminal no longer takes output, so that keys can be locked; then the event loop gets a SuspendMsg. suspended may be
// nil.
func Watch(p *tea.Program, suspended func()) *Job {
	j := &Job{tstp: make(chan os.Signal, 1), done: make(chan struct{})}
	signal.Notify(j.tstp, syscall.SIGTSTP)
	go func() {
		for {
			select {
			case <-j.done:
				return
			case <-j.tstp:
				if suspended != nil {
					suspended()
				}
				p.Send(SuspendMsg{FromOutside: true})
			}
		}
	}()
	return j
}

// End stops listening.
func (j *Job) End() { signal.Stop(j.tstp); close(j.done) }

// stop stops the process and returns once it is continued. After a signal from outside it stops this process alone: the
// sender of SIGTSTP can send SIGCONT. After the key it does what the terminal does for ctrl+z: it stops the whole job,
// so that the shell above takes over. The system ignores that where no shell could continue it, such as in a window
// that runs this program alone; then stop returns false.
func (j *Job) stop(fromOutside bool) bool {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	if fromOutside {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	} else {
		// Not SIGTSTP: once Go has handled a signal it never returns it to the system. This signal has the same effect.
		_ = syscall.Kill(0, syscall.SIGTTIN)
	}
	for range 2 { // the first wait may end together with the stop, before the signal is delivered
		t := time.NewTimer(contTime)
		select {
		case <-cont:
			t.Stop()
			return true
		case <-t.C:
		}
	}
	return false
}
