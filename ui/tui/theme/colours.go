package theme

// hue is a colour, named by its meaning.
type hue int

const (
	dimHue hue = iota
	ruleHue
	accentHue
	goodHue
	warnHue
	dangerHue
	unknownHue
	selectedHue
	disabledHue
)

// hueNames are the names of the hues in the configuration.
func hueNames() map[string]hue {
	return map[string]hue{
		"dim": dimHue, "rule": ruleHue, "accent": accentHue, "good": goodHue, "warn": warnHue, "danger": dangerHue,
		"unknown": unknownHue, "selected": selectedHue, "disabled": disabledHue,
	}
}

// shade is one hue on every terminal: in true colour, as one of 256 colours, and as one of the 16 basic ones, whose
// look the terminal chooses. Where rgb is "", true colour uses the one of 256, which takes 8 bytes less each time: the
// hues that a screen has by the dozen do so where that looks the same. Where index is "" the hue has no colour; where
// basic is "", none of the 16 is known to be readable.
type shade struct{ rgb, index, basic string }

// strong is the place of the contrast theme in the table: a background plus strong.
const strong = OnLight + 1

// shadeOf is the hue on a background. The values follow the contrast rules that the tests compute: text has 4.5 : 1 or
// more against black on a dark background, against white on a light one, against both on an unknown one, and against
// the selected line; 7 : 1 in the contrast theme.
func shadeOf(h hue, g Ground, contrast bool) shade {
	if h == disabledHue {
		h = dimHue // only the accent of the key is missing
	}
	if contrast {
		g += strong
	}
	return [...][2 * strong]shade{
		dimHue: {
			OnDark: {"", "246", ""}, OnLight: {"", "240", ""}, OnAny: {"", "243", ""},
		},
		ruleHue: {
			OnDark: {"", "240", ""}, OnLight: {"", "250", ""}, OnAny: {"", "244", ""},
		},
		accentHue: {
			OnDark: {"", "111", "6"}, OnLight: {"", "25", "4"}, OnAny: {"#2776cf", "63", ""},
			strong + OnDark: {"", "81", "14"}, strong + OnLight: {"#00319e", "18", "4"},
		},
		goodHue: {
			OnDark: {"#7fc88a", "114", "2"}, OnLight: {"#1a6b2d", "22", ""}, OnAny: {"#2a8638", "29", ""},
			strong + OnDark: {"", "84", "10"}, strong + OnLight: {"#004d1a", "22", ""},
		},
		warnHue: {
			OnDark: {"#e6b455", "179", "3"}, OnLight: {"#7f5000", "94", ""}, OnAny: {"#a46900", "130", ""},
			strong + OnDark: {"", "227", "11"}, strong + OnLight: {"#663700", "52", ""},
		},
		dangerHue: {
			OnDark: {"#f5828c", "204", "1"}, OnLight: {"#b91c2e", "124", "1"}, OnAny: {"#df2e3d", "163", "1"},
			strong + OnDark: {"#ff9c9c", "217", "9"}, strong + OnLight: {"#9a0000", "88", "1"},
		},
		unknownHue: {
			OnDark: {"#c09af0", "141", "5"}, OnLight: {"#733fb0", "91", "5"}, OnAny: {"#9558d0", "98", ""},
			strong + OnDark: {"", "183", "13"}, strong + OnLight: {"#551a8b", "54", "5"},
		},
		selectedHue: {OnDark: {"#262d3a", "235", ""}, OnLight: {"#dfe7f3", "254", ""}},
	}[h][g]
}
