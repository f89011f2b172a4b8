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
// look the terminal chooses. Where rgb is "" the hue has no colour; where basic is "", none of the 16 is known to be
// readable.
type shade struct{ rgb, index, basic string }

// shadeOf is the hue on a background. The values follow the contrast rules that the tests compute: text has 4.5 : 1 or
// more against black on a dark background, against white on a light one, against both on an unknown one, and against
// the selected line; 7 : 1 in the contrast theme.
func shadeOf(h hue, g Ground, contrast bool) shade {
	if h == disabledHue {
		h = dimHue // only the accent of the key is missing
	}
	switch {
	case contrast && g == OnDark:
		return contrastDark(h)
	case contrast && g == OnLight:
		return contrastLight(h)
	case contrast:
		return shade{}
	case g == OnDark:
		return onDark(h)
	case g == OnLight:
		return onLight(h)
	}
	return onAny(h)
}

func onDark(h hue) shade {
	switch h {
	case dimHue:
		return shade{"#8f97a5", "246", ""}
	case ruleHue:
		return shade{"#4d5461", "240", ""}
	case accentHue:
		return shade{"#7ab3f5", "111", "6"}
	case goodHue:
		return shade{"#7fc88a", "114", "2"}
	case warnHue:
		return shade{"#e6b455", "179", "3"}
	case dangerHue:
		return shade{"#f5828c", "204", "1"}
	case unknownHue:
		return shade{"#c09af0", "141", "5"}
	}
	return shade{"#262d3a", "235", ""}
}

func onLight(h hue) shade {
	switch h {
	case dimHue:
		return shade{"#5a616c", "240", ""}
	case ruleHue:
		return shade{"#b4bac4", "250", ""}
	case accentHue:
		return shade{"#1f5fbf", "25", "4"}
	case goodHue:
		return shade{"#1a6b2d", "22", ""}
	case warnHue:
		return shade{"#7f5000", "94", ""}
	case dangerHue:
		return shade{"#b91c2e", "124", "1"}
	case unknownHue:
		return shade{"#733fb0", "91", "5"}
	}
	return shade{"#dfe7f3", "254", ""}
}

// onAny has the few colours that read on both black and white.
func onAny(h hue) shade {
	switch h {
	case dimHue:
		return shade{"#767676", "243", ""}
	case ruleHue:
		return shade{"#808080", "244", ""}
	case accentHue:
		return shade{"#2776cf", "63", ""}
	case goodHue:
		return shade{"#2a8638", "29", ""}
	case warnHue:
		return shade{"#a46900", "130", ""}
	case dangerHue:
		return shade{"#df2e3d", "163", "1"}
	case unknownHue:
		return shade{"#9558d0", "98", ""}
	}
	return shade{}
}

func contrastDark(h hue) shade {
	switch h {
	case accentHue:
		return shade{"#5fd7ff", "81", "14"}
	case goodHue:
		return shade{"#5fff87", "84", "10"}
	case warnHue:
		return shade{"#ffff5f", "227", "11"}
	case dangerHue:
		return shade{"#ff9c9c", "217", "9"}
	case unknownHue:
		return shade{"#d7afff", "183", "13"}
	}
	return shade{}
}

func contrastLight(h hue) shade {
	switch h {
	case accentHue:
		return shade{"#00319e", "18", "4"}
	case goodHue:
		return shade{"#004d1a", "22", ""}
	case warnHue:
		return shade{"#663700", "52", ""}
	case dangerHue:
		return shade{"#9a0000", "88", "1"}
	case unknownHue:
		return shade{"#551a8b", "54", "5"}
	}
	return shade{}
}
