//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// contTime is how long the signal that continues is waited for, twice. A stopped process does not run its timers, so this only passes when the system did not
// stop it.
const contTime = 200 * time.Millisecond

// job is this process as the shell above it sees it.
type job struct {
	tstp chan os.Signal
	done chan struct{}
}

// watchJob answers SIGTSTP from outside: whoever keeps the keys is told at once, even when the terminal no longer takes output; then the event loop stops the
// process.
func watchJob(p *tea.Program, suspended func()) *job {
	j := &job{tstp: make(chan os.Signal, 1), done: make(chan struct{})}
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
				p.Send(suspendMsg{fromOutside: true})
			}
		}
	}()
	return j
}

// end stops listening.
func (j *job) end() { signal.Stop(j.tstp); close(j.done) }

// stop stops the process and returns once it was continued. After a signal from outside that is this process alone: whoever sent SIGTSTP can send SIGCONT.
// After the key it is what the terminal does for ctrl+z: the whole job stops, so that the shell above takes over. The system ignores that where no shell could
// continue it, such as in a window that runs this program alone; then stop returns false.
func (j *job) stop(fromOutside bool) bool {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	if fromOutside {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	} else {
		// Not SIGTSTP: once Go has handled a signal it never gives it back to the system. This one has the same effect.
		_ = syscall.Kill(0, syscall.SIGTTIN)
	}
	for range 2 { // the first wait may end together with the stop, before the signal is handed on
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
