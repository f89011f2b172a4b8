//go:build unix

package setup

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

// watchJob answers SIGTSTP from outside: the event loop wipes the secrets and then stops the process.
func watchJob(p *tea.Program) *job {
	j := &job{tstp: make(chan os.Signal, 1), done: make(chan struct{})}
	signal.Notify(j.tstp, syscall.SIGTSTP)
	go func() {
		for {
			select {
			case <-j.done:
				return
			case <-j.tstp:
				p.Send(suspendMsg{fromOutside: true})
			}
		}
	}()
	return j
}

// end stops listening.
func (j *job) end() { signal.Stop(j.tstp); close(j.done) }

// stop stops the process and returns once it was continued: this process alone after a signal from outside, the whole job after the key, so that the shell above
// takes over. The system ignores the latter where no shell could continue it; then stop returns false.
func (j *job) stop(fromOutside bool) bool {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	if fromOutside {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	} else {
		_ = syscall.Kill(0, syscall.SIGTTIN) // SIGTSTP is never given back to the system once it was handled
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
