package cli

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/present"
)

// ServeSSH are the flags of `coffer serve` about dashboards over SSH.
type ServeSSH struct {
	Listen   string        // host:port, "" for none; port 0 takes a free one
	Open     bool          // other machines may reach it
	Keys     string        // the authorized-keys file, "" for the one in the data directory
	Idle     time.Duration // without a key pressed
	Max      time.Duration // in all
	Sessions int           // dashboards at once
	Profile  string        // the remote profile to show; "": the service of this process
}

// Bounds of the flags.
const (
	defaultSSHIdle     = 15 * time.Minute
	defaultSSHMax      = 8 * time.Hour
	defaultSSHSessions = 32
	maxSSHIdle         = 24 * time.Hour
	maxSSHMax          = 7 * 24 * time.Hour
	maxSSHSessions     = 1024
)

func (s *ServeSSH) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Listen, "ssh", "", "also serve dashboards over SSH at this `HOST:PORT`, such as 127.0.0.1:2222, "+
		"to everyone in the authorized keys")
	f.BoolVar(&s.Open, "ssh-open", false, "let others than this machine reach the address of --ssh")
	f.StringVar(&s.Keys, "ssh-keys", "", "authorized-keys `file`: one public key a line, no options (default: "+
		"ssh/authorized_keys in the data directory)")
	f.DurationVar(&s.Idle, "ssh-idle", defaultSSHIdle,
		"close a dashboard in which no key was pressed for so long, 1s to 24h")
	f.DurationVar(&s.Max, "ssh-max", defaultSSHMax, "close a dashboard that is open for so long, 1s to 168h")
	f.IntVar(&s.Sessions, "ssh-sessions", defaultSSHSessions,
		"dashboards open at once, 1 to 1024, as a `number`; a key has one")
}

// elsewhere are the flags of the service, which does not run when the dashboards show a remote profile.
func elsewhere() []string {
	return []string{"listen", "host", "fund", "fund-limit", "private", "fault", "lifetime", "cursor-lifetime",
		"metrics", "base-path", "max-connections", "rpc", "rpc-open", "rpc-cors"}
}

// settle checks the flags against each other. profile is the named one, if any.
func (s *ServeSSH) settle(cmd *cobra.Command, profile string) error {
	given := cmd.Flags().Changed
	if !given("ssh") {
		for _, name := range []string{"ssh-open", "ssh-keys", "ssh-idle", "ssh-max", "ssh-sessions"} {
			if given(name) {
				return &UsageError{Problem: "--" + name + " is about --ssh, which is not there",
					Hint: "give an address as well, such as --ssh 127.0.0.1:2222"}
			}
		}
	}
	if given(PassphraseFlag) && !given("profile") && !given("keys") {
		return &UsageError{Problem: "--" + PassphraseFlag + " opens keys, and none are named",
			Hint: "it goes with --networks and --keys, or with --ssh and --profile"}
	}
	if !given("ssh") {
		return nil
	}
	if err := notEmpty(cmd, "ssh", "ssh-keys", "profile"); err != nil {
		return err
	}
	if !isHostPort(s.Listen) {
		return &UsageError{Problem: "--ssh takes an address and a port from 0 to 65535, such as 127.0.0.1:2222"}
	}
	switch {
	case s.Idle < time.Second || s.Idle > maxSSHIdle:
		return &UsageError{Problem: "--ssh-idle takes 1s to 24h"}
	case s.Max < time.Second || s.Max > maxSSHMax:
		return &UsageError{Problem: "--ssh-max takes 1s to 168h"}
	case s.Sessions < 1 || s.Sessions > maxSSHSessions:
		return &UsageError{Problem: fmt.Sprintf("--ssh-sessions takes 1 to %d", maxSSHSessions)}
	}
	if !given("profile") {
		return nil
	}
	s.Profile = profile
	for _, name := range elsewhere() {
		if given(name) {
			return &UsageError{
				Problem: "--" + name + " is about a service of this process, and with --profile there is none",
				Hint:    "leave --" + name + " out, or --profile",
			}
		}
	}
	return nil
}

// SSHReach is how to reach dashboards over SSH.
type SSHReach struct {
	Address     string `json:"address"`
	HostKey     string `json:"hostKey"`     // public, as a known-hosts file has it after the name
	Fingerprint string `json:"fingerprint"` // of the host key
	KeysFile    string `json:"keysFile"`
	Keys        int    `json:"keys"`             // in the file at the start
	Profile     string `json:"profile,omitzero"` // the profile to show, read only
}

// Lines describe it to people.
func (r SSHReach) Lines() []string {
	about := "every key has its own account"
	if r.Profile != "" {
		about = "profile " + r.Profile + ", read only: no key to sign with is loaded"
	}
	command := "ssh HOST"
	if host, port, err := net.SplitHostPort(r.Address); err == nil {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = "HOST"
		}
		command = "ssh -p " + port + " " + host
	}
	return []string{
		"ssh      " + r.Address + "  (" + command + ")", "         host key " + r.Fingerprint,
		fmt.Sprintf("         %s in %s", present.Plural(r.Keys, "key", "keys"), r.KeysFile), "         " + about,
	}
}

// Announce prints it where no service is announced: as one line of JSON, or as lines for people.
func (r SSHReach) Announce(out io.Writer, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(out, strings.Join(r.Lines(), "\n"))
		return err
	}
	return PrintJSON(out, struct {
		SSH SSHReach `json:"ssh"`
	}{r})
}
