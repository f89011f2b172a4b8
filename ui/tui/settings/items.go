package settings

import (
	"cmp"
	"fmt"
	"time"

	"github.com/charmbracelet/colorprofile"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// The rows that can be selected.
const (
	idTheme  = "theme"
	idMouse  = "mouse"
	idASCII  = "ascii"
	idHide   = "hide"
	idCopies = "copies"
	idNotify = "notify"
	idDust   = "dust"
	idKeys   = "keys"
	idDoctor = "doctor"
)

const (
	auto = "auto"
	yes  = "yes"
	no   = "no"
)

// item is one choice: its name, its present value, its possible values, and why it cannot be changed.
type item struct {
	id, label, value, shown string
	choices                 []kit.Item
	note                    string
	off                     string
}

func yesNo(on bool) string {
	if on {
		return yes
	}
	return no
}

func switches(onWords, offWords string) []kit.Item {
	return []kit.Item{{Value: yes, Label: "yes", Note: onWords}, {Value: no, Label: "no", Note: offWords}}
}

// items lists the choices with their present values.
func (m *Model) items() []item {
	off := ""
	if m.deps.Save == nil {
		off = "this program does not write a configuration"
	}
	mouse := auto
	if m.ui.Mouse != nil {
		mouse = yesNo(*m.ui.Mouse)
	}
	sick := ""
	if m.deps.Doctor == nil {
		sick = m.noDoctor()
	}
	look := cmp.Or(m.ui.Theme, config.ThemeAuto)
	return []item{
		{id: idTheme, label: "theme", value: look, shown: themeWords(look), choices: themes(), off: off},
		{id: idMouse, label: "mouse", value: mouse, shown: mouseWords(mouse), choices: []kit.Item{
			{Value: auto, Label: "where it helps", Note: "on here, off over SSH"},
			{Value: yes, Label: "always", Note: "a click chooses and opens"},
			{Value: no, Label: "never", Note: "text can be marked"},
		}, off: off},
		{id: idASCII, label: "ASCII only", value: yesNo(m.ui.ASCII), shown: yesNo(m.ui.ASCII),
			choices: switches("for terminals that draw nothing else", "lines and signs as usual"), off: off},
		{id: idHide, label: "hide amounts", value: yesNo(m.ui.HideAmounts),
			shown: yesNo(m.ui.HideAmounts) + " at the start", choices: switches("until h shows them", "h hides them"),
			off: off},
		{id: idCopies, label: "copies", value: yesNo(m.ui.Copies()), shown: copyWords(m.ui),
			choices: switches("over SSH too: to the terminal you sit at", "no clipboard gets anything"), off: off},
		{id: idNotify, label: "notify", value: cmp.Or(m.ui.Notify, config.NotifyAuto), shown: notifyWords(m.ui.Notify),
			choices: []kit.Item{
				{Value: config.NotifyAuto, Label: "where it works", Note: "terminals known to show it; not over SSH"},
				{Value: config.NotifyOn, Label: "always", Note: "only that an operation finished, and how"},
				{Value: config.NotifyDetails, Label: "always, with what it was", Note: "without amounts"},
				{Value: config.NotifyOff, Label: "never", Note: "the screen alone says it"},
			}, off: off},
		{id: idDust, label: "dust", value: m.dust(), shown: dustWords(m.ui), note: "from the next start on", off: off},
		{id: idKeys, label: "keys", shown: keysWords(m.ui), note: m.keysNote()},
		{id: idDoctor, label: "doctor", shown: "checks your setup", off: sick},
	}
}

func themes() []kit.Item {
	var out []kit.Item
	for _, name := range config.Themes() {
		out = append(out, kit.Item{Value: name, Label: name, Note: themeNote(name)})
	}
	return out
}

func themeNote(name string) string {
	switch name {
	case config.ThemeAuto:
		return "follows the terminal"
	case config.ThemeDark:
		return "for a dark background"
	case config.ThemeLight:
		return "for a light background"
	case config.ThemeContrast:
		return "strong, for tired eyes"
	}
	return ""
}

func themeWords(name string) string {
	if note := themeNote(name); note != "" {
		return name + ", " + note
	}
	return name
}

func mouseWords(v string) string {
	switch v {
	case yes:
		return "on, also over SSH"
	case no:
		return "off"
	}
	return "on here, off over SSH"
}

func copyWords(ui config.UI) string {
	if ui.Copies() {
		return "sent to the terminal's clipboard"
	}
	return "off: nothing is sent to a clipboard"
}

func notifyWords(v string) string {
	switch v {
	case config.NotifyOff:
		return "off: the screen alone says what finished"
	case config.NotifyOn:
		return "when an operation ends"
	case config.NotifyDetails:
		return "when an operation ends, with what it was"
	}
	return "when an operation ends, not over SSH"
}

func (m *Model) dust() string { return cmp.Or(m.ui.Dust, config.DefaultDust) }

func dustWords(ui config.UI) string {
	micro := ui.DustMicro()
	if micro == nil {
		return "nothing counts as dust"
	}
	return "below " + present.USD(micro) + " in a separate group"
}

func keysWords(ui config.UI) string {
	if len(ui.Keys) == 0 {
		return "as they come"
	}
	return present.Plural(len(ui.Keys), "own key", "own keys")
}

func (m *Model) keysNote() string {
	if m.deps.Actions == nil {
		return ""
	}
	return "enter lists what keys do"
}

// ColourWords names what a terminal can show, "" when that is unknown.
func ColourWords(p colorprofile.Profile) string {
	switch p {
	case colorprofile.TrueColor:
		return "true colour"
	case colorprofile.ANSI256:
		return "256 colours"
	case colorprofile.ANSI:
		return "16 colours"
	case colorprofile.ASCII:
		return "none (NO_COLOR, or the terminal has none)"
	case colorprofile.NoTTY:
		return "none: only text"
	}
	return ""
}

// fact is a line that cannot be selected.
type fact struct {
	label string
	spans []kit.Span
}

func plain(label, text string) fact { return fact{label, []kit.Span{kit.Plain(text)}} }

// section is a title with facts below it.
type section struct {
	title string
	facts []fact
}

// sections are the parts that cannot be changed here.
func (m *Model) sections(th theme.Theme) []section {
	out := []section{{"Policy", m.policyFacts(th)}, {"Vault", m.vaultFacts()}}
	proxy := m.ctx.Settings.Proxy
	if proxy == "" {
		proxy = "none: straight to the service"
	} else {
		proxy += ", from HTTPS_PROXY; it sees when and how much, never what"
	}
	line := section{"Connection", []fact{plain("proxy", present.Clean(proxy, 200))}}
	if m.deps.Service != "" {
		line.facts = append([]fact{plain("service", present.Clean(m.deps.Service, 300))}, line.facts...)
	}
	out = append(out, line)
	if m.deps.Endpoints != nil {
		out = append(out, section{"Endpoints", m.endpointFacts(th)})
	}
	if len(m.deps.Paths) > 0 {
		files := section{title: "Files"}
		for _, p := range m.deps.Paths {
			files.facts = append(files.facts, plain(p.Name, present.Clean(p.Path, 1000)))
		}
		out = append(out, files)
	}
	return out
}

// endpointFacts say where other tools reach the chains.
func (m *Model) endpointFacts(th theme.Theme) []fact {
	if m.deps.RPC == "" {
		return []fact{plain("rpc", `off: no other tool reaches the chains (rpc = "127.0.0.1:8545" in the profile)`)}
	}
	out := []fact{plain("rpc", present.Clean(m.deps.RPC, 100)+", while the dashboard runs")}
	all, err := m.deps.Endpoints()
	if err != nil {
		return append(out, fact{"", kit.Marked(th, theme.Danger, problem(err))})
	}
	for _, e := range all {
		out = append(out, plain(present.Clean(e.Name, 40), present.Clean(e.Path, 200)))
	}
	return out
}

func (m *Model) policyFacts(th theme.Theme) []fact {
	if m.deps.PolicyFile == "" {
		return []fact{plain("file",
			"none: what may be signed is limited by the program's own checks alone (policy_file, docs/policy.md)")}
	}
	out := []fact{plain("file", present.Clean(m.deps.PolicyFile, 1000)+", read at the start")}
	switch {
	case !m.limitsGot:
		out = append(out, plain("limits", "being read"))
	case m.limitsErr != nil:
		out = append(out, fact{"limits", kit.Marked(th, theme.Danger, problem(m.limitsErr))})
	case len(m.limits) == 0:
		out = append(out, plain("limits", "none"))
	}
	for i, l := range m.limits {
		label := ""
		if i == 0 {
			label = "limits"
		}
		out = append(out, plain(label, present.Clean(l, 1000)))
	}
	return out
}

func (m *Model) vaultFacts() []fact {
	v := m.ctx.Vault
	where := cmp.Or(v.Where, "none: this profile keeps no keys")
	out := []fact{plain("kept in", present.Clean(where, 120))}
	if v.Locked != nil {
		state := "unlocked"
		if v.Locked() {
			state = "locked"
		}
		out = append(out, plain("state", state))
	}
	if m.deps.LockAfter > 0 {
		out = append(out, plain("locks", "after "+duration(m.deps.LockAfter)+
			" without use (lock_after; from the next start on)"))
	}
	return out
}

func duration(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
