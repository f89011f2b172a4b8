package config

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/pattern"
)

// Themes of the screens. ThemeAuto follows the background that the terminal reports.
const (
	ThemeAuto     = "auto"
	ThemeDark     = "dark"
	ThemeLight    = "light"
	ThemeContrast = "contrast"
)

// Notifications of the terminal when an operation ends. NotifyAuto: where the terminal is known to show them, and not
// over SSH; NotifyDetails: everywhere, with what the operation was.
const (
	NotifyAuto    = "auto"
	NotifyOff     = "off"
	NotifyOn      = "on"
	NotifyDetails = "details"
)

// DefaultDust is the dust threshold in USD when the file does not set it.
const DefaultDust = "1.00"

// UI holds the user's choices about the screens (table [ui]). The zero value is the choice of a user without a file.
type UI struct {
	Theme string `toml:"theme,omitempty"` // one of Themes(); "": ThemeAuto
	Mouse *bool  `toml:"mouse,omitempty"` // nil: on, and off over SSH
	// USD with up to six decimals; "": DefaultDust, "0": nothing is dust
	Dust        string `toml:"dust,omitempty"`
	HideAmounts bool   `toml:"hide_amounts,omitempty"` // amounts are hidden at the start
	ASCII       bool   `toml:"ascii,omitempty"`        // only ASCII characters are drawn
	// nil: copies are sent to the terminal's clipboard; false: nothing is (TH-R2)
	Clipboard *bool `toml:"clipboard,omitempty"`
	// one of Notifications(); "": NotifyAuto
	Notify string `toml:"notify,omitempty"`

	// Keys sets the key of an action: "balances.sort" = "o". The action is "shell" or the id of a screen, a dot and
	// the name that the help of the screen shows.
	Keys map[string]string `toml:"keys,omitempty"`
	// Colors replaces colours of the theme, by the names of ColorNames().
	Colors map[string]Color `toml:"colors,omitempty"`
}

// Color is "#rrggbb", or the number of one of a terminal's 256 colours. In the file the number may be without quotes.
type Color string

// UnmarshalText takes a value of the file as it is; the rules of UI check it.
func (c *Color) UnmarshalText(text []byte) error { *c = Color(text); return nil }

// Themes lists the themes.
func Themes() []string { return []string{ThemeAuto, ThemeDark, ThemeLight, ThemeContrast} }

// Notifications lists the choices of what the terminal notifies of.
func Notifications() []string { return []string{NotifyAuto, NotifyOff, NotifyOn, NotifyDetails} }

// ColorNames lists the parts of a theme that have a colour.
func ColorNames() []string {
	return []string{"dim", "rule", "accent", "good", "warn", "danger", "unknown", "selected", "disabled"}
}

// KeyOwners lists what may come before the dot in the name of an action: the shell and the screens.
func KeyOwners() []string {
	return []string{"shell", "balances", "build", "activity", "history", "lab", "accounts", "review", "wire",
		"settings"}
}

// DustMicro is the dust threshold in micro USD; nil: nothing is dust.
func (u UI) DustMicro() *big.Int {
	text := u.Dust
	if text == "" {
		text = DefaultDust
	}
	v, err := amount.Parse(text, usdDecimals)
	if err != nil || v.Sign() <= 0 {
		return nil
	}
	return v
}

// Copies reports whether a copy goes to the clipboard of the terminal.
func (u UI) Copies() bool { return u.Clipboard == nil || *u.Clipboard }

// MouseOn reports whether the mouse works at the start; remote: over SSH.
func (u UI) MouseOn(remote bool) bool {
	if u.Mouse != nil {
		return *u.Mouse
	}
	return !remote
}

// Notifies reports whether the terminal notifies of what ends, and whether it says what that was. known: the terminal
// is known to show notifications; remote: it is reached over SSH.
func (u UI) Notifies(known, remote bool) (on, details bool) {
	switch u.Notify {
	case NotifyOff:
		return false, false
	case NotifyOn, NotifyDetails:
		return true, u.Notify == NotifyDetails
	}
	return known && !remote, false
}

const (
	usdDecimals = 6
	longestDust = 16 // characters

	// signingKey signs on a review. No action of the shell or of the review may have this key: a slip would sign.
	signingKey = "y"
)

var (
	reAction   = pattern.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	reHexColor = pattern.New(`^#[0-9a-fA-F]{6}$`)
)

// check says the key, in parts below the table, and the problem of each broken rule.
func (u UI) check(say func(key []string, problem string)) {
	if u.Theme != "" && !slices.Contains(Themes(), u.Theme) {
		say([]string{"theme"}, "expected "+orList(Themes()))
	}
	if u.Notify != "" && !slices.Contains(Notifications(), u.Notify) {
		say([]string{"notify"}, "expected "+orList(Notifications()))
	}
	if u.Dust != "" {
		v, err := amount.Parse(u.Dust, usdDecimals)
		if err != nil || v.Sign() < 0 || len(u.Dust) > longestDust {
			say([]string{"dust"}, `expected an amount of USD such as "1.00"; "0" for none`)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.Colors)) {
		if problem := checkColor(name, u.Colors[name]); problem != "" {
			say([]string{"colors", name}, problem)
		}
	}
	taken := map[string]string{} // owner and key -> action
	for _, action := range slices.Sorted(maps.Keys(u.Keys)) {
		if problem := checkAction(taken, action, u.Keys[action]); problem != "" {
			say([]string{"keys", action}, problem)
		}
	}
}

func checkColor(name string, c Color) string {
	if !slices.Contains(ColorNames(), name) {
		return "there is no such colour; colours: " + strings.Join(ColorNames(), ", ")
	}
	if reHexColor.MatchString(string(c)) {
		return ""
	}
	if n, err := strconv.ParseUint(string(c), 10, 8); err != nil || strconv.FormatUint(n, 10) != string(c) {
		return `expected "#rrggbb" or a number from 0 to 255`
	}
	return ""
}

func checkAction(taken map[string]string, action, pressed string) string {
	owner, name, ok := strings.Cut(action, ".")
	if !ok || !slices.Contains(KeyOwners(), owner) || !reAction.MatchString(name) {
		return `expected an action such as "balances.sort": ` + orList(KeyOwners()) +
			", a dot, and the name that the help shows"
	}
	if problem := checkKey(pressed); problem != "" {
		return problem
	}
	if pressed == signingKey && (owner == "shell" || owner == "review") {
		return signingKey + " signs on a review; choose another"
	}
	for _, o := range []string{owner, "shell"} {
		if other := taken[o+" "+pressed]; other != "" {
			return fmt.Sprintf("%s is the key of %s already", pressed, other)
		}
	}
	taken[owner+" "+pressed] = action
	if owner == "shell" {
		for _, o := range KeyOwners() {
			if other := taken[o+" "+pressed]; other != action && other != "" {
				return fmt.Sprintf("%s is the key of %s already", pressed, other)
			}
		}
	}
	return ""
}

func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
