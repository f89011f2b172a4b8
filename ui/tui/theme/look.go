package theme

// Ground is the known background of a terminal.
type Ground int

// The backgrounds.
const (
	OnAny Ground = iota // unknown: the terminal did not report it
	OnDark
	OnLight
)

// The names of the themes. Auto follows the terminal's background; "" means Auto too.
const (
	Auto     = "auto"
	Dark     = "dark"
	Light    = "light"
	Contrast = "contrast"
)

// Names lists the themes.
func Names() []string { return []string{Auto, Dark, Light, Contrast} }

// Look is a person's choice of a theme. Colors replaces colours by name (dim, rule, accent, good, warn, danger,
// unknown, selected, disabled) with "#rrggbb" or the number of one of 256 colours; other names and NO_COLOR disable
// them.
type Look struct {
	Name   string
	Colors map[string]string
}

// ground is the background that the theme is made for.
func (l Look) ground(told Ground) Ground {
	switch l.Name {
	case Dark:
		return OnDark
	case Light:
		return OnLight
	}
	return told
}

func (l Look) own() map[hue]string {
	if len(l.Colors) == 0 {
		return nil
	}
	own := make(map[hue]string, len(l.Colors))
	for name, h := range hueNames() {
		if c := l.Colors[name]; c != "" {
			own[h] = c
		}
	}
	return own
}
