package tui

import (
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"coffer/config"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The smallest terminal that the screens are drawn for.
const (
	MinWidth  = 60
	MinHeight = 20
)

// Frames per second: an idle program writes nothing at either rate.
const (
	fpsLocal  = 120 // as many as the library allows: a key waits 4 ms for its frame on average
	fpsRemote = 30
)

// Options of Run. Context has the profile and the network; Env is the environment of the person's terminal (over SSH
// not that of this process).
type Options struct {
	Context  screen.Context
	Screens  func(screen.Context) map[screen.ID]screen.Screen // builds the screens
	In       io.Reader                                        // nil: the terminal
	Out      io.Writer                                        // nil: standard output
	Env      term.Env
	NoColor  bool
	ASCII    bool
	Start    screen.ID // the first screen; "": Balances
	UI       config.UI // the person's choices; NoColor and ASCII above take precedence
	Profiles []string  // profiles that the palette offers to switch to

	// Notice is the first thing that the person has to know, shown at the start; "": nothing.
	Notice string
	// Replay says that a recording answers, not a service: the first line names it on every screen.
	Replay bool

	// Switch receives, on the event loop, a screen's request for another profile or for a set-up; the program ends
	// then. nil: there is no other profile.
	Switch func(screen.SwitchMsg)

	// View continues where an earlier run of the same person ended, and takes where this one is left; nil: there is
	// none.
	View *View

	// NoSwitch explains, in the words of this program, why there is no other profile; "" takes the words for a local
	// terminal.
	NoSwitch string

	// Away, when set, says that the terminal is not this process's own: In, Out and Env are the person's, wherever that
	// is. The program cannot be suspended then.
	Away *Away

	// Suspended is called when the program is about to be suspended, by SIGTSTP or by ctrl+z, before it stops (TH-K6).
	// It may be called more than once per suspension, and off the event loop. Systems that do not suspend programs
	// never call it.
	Suspended func()
}

// QuietEnvironment removes the environment variables with which the terminal library would log every keystroke
// (TEA_TRACE) or write stacks into the working directory (TEA_DEBUG). Run calls it; a program calls it as early as it
// can.
func QuietEnvironment() { term.Quiet() }

// remote reports whether the session runs over SSH. A shell inside tmux or sudo keeps one of these names when it loses
// another.
func (o Options) remote() bool {
	return o.Env.Get("SSH_TTY") != "" || o.Env.Get("SSH_CONNECTION") != "" || o.Env.Get("SSH_CLIENT") != ""
}

// ground is the background according to the environment, until the terminal answers, if it ever does.
func (o Options) ground() theme.Ground {
	if o.Env.Get("TERM") == "linux" {
		return theme.OnDark // the console
	}
	colours := strings.Split(o.Env.Get("COLORFGBG"), ";") // text;background, or text;default;background
	switch n, err := strconv.Atoi(colours[len(colours)-1]); {
	case err != nil || len(colours) < 2 || n < 0 || n > 15:
		return theme.OnAny
	case n == 7 || n > 8:
		return theme.OnLight
	}
	return theme.OnDark
}

// Dumb reports whether the environment names a terminal that cannot move its cursor, so that the screens cannot be
// shown there.
func Dumb(env []string) bool {
	name := term.Env(env).Get("TERM")
	return name == "dumb" || name == "unknown"
}

// ascii reports whether the person asked for ASCII, or the locale does.
func (o Options) ascii() bool { return o.ASCII || o.UI.ASCII || o.Env.ASCII() }

// links reports whether pages of explorers are links (OSC 8): on a terminal with looks that is on this machine. The
// Linux console would print them, and GNU Screen drops them.
func (o Options) links() bool {
	return o.profile() > colorprofile.ASCII && o.Env.Get("TERM") != "linux" && !o.inScreen() && !o.remote() &&
		o.Away == nil
}

func (o Options) profile() colorprofile.Profile {
	if o.NoColor || o.Env.Get("NO_COLOR") != "" {
		return colorprofile.ASCII
	}
	return colorprofile.Env(o.Env)
}

// Abilities reads the environment of a terminal: its colours, and whether it draws only ASCII.
func Abilities(env []string) (colours colorprofile.Profile, ascii bool) {
	o := Options{Env: env}
	return o.profile(), o.ascii()
}
