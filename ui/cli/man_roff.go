package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"coffer/config"
)

// exitCodes describes each exit code; the index is the code.
func exitCodes() []string {
	return []string{
		ExitDone:    "Done.",
		ExitFailed:  "Failed; also a quote that was refunded or failed, and a doctor that found something bad.",
		ExitUsage:   "The command line, a file that it names or the configuration cannot be used.",
		ExitAccess:  "A key is missing, wrong, without permission or locked.",
		ExitRefused: "Refused by a check, by the policy, or because a plan was applied before.",
		ExitExpired: "Expired, not confirmed, interrupted before anything was sent, or never executed.",
		ExitUnknown: "The outcome is unknown or not known yet: coffer status ID --watch asks for it. Nothing is sent " +
			"again.",
		ExitDamaged: "What a service or an embedded profile stored is damaged or lost: restore a backup.",
	}
}

// surroundings are what the program reads besides its arguments.
func (manual) surroundings(r *roff) {
	r.section("ENVIRONMENT")
	r.prose(
		"No variable takes a secret. One that sounds as if it did, such as COFFER_API_KEY, is ignored, which is said.")
	for _, v := range config.Variables() {
		r.item(v.Name, v.What)
	}
	r.section("FILES")
	for _, f := range [][2]string{
		{"~/.config/coffer/config.toml",
			"The configuration, see coffer config example. A file that others may write is refused."},
		{"~/.local/share/coffer/PROFILE",
			"Data of a profile: the chains of an embedded one, its encrypted file of keys, its exports."},
		{"~/.local/share/coffer/serve", "Data of coffer serve: database, certificate authority, network.json."},
		{"~/.local/state/coffer/PROFILE", "The journal of a profile: what was signed and sent. It is written before " +
			"anything is sent and never shared."},
	} {
		r.item(f[0], f[1])
	}
}

// manWidth is where lines of the source break, in characters.
const manWidth = 76

// roff writes the language of manual pages.
type roff struct{ b strings.Builder }

func (r *roff) line(s string) { r.b.WriteString(s + "\n") }

func (r *roff) section(name string) { r.line(".SH " + name) }

// text writes a line of text.
func (r *roff) text(s string) { r.line(start(escape(s))) }

func (r *roff) bold(s string) { r.line(`\fB` + escape(s) + `\fR`) }

// item is a term and its meaning.
func (r *roff) item(term, says string) {
	r.line(".TP")
	r.bold(term)
	r.lines(says)
}

// lines writes text that may have line breaks; lines that begin with two blanks stay as they are.
func (r *roff) lines(says string) {
	var table []string
	flush := func() {
		if len(table) > 0 {
			r.literal(table)
			table = nil
		}
	}
	for l := range strings.SplitSeq(reflow(says, manWidth), "\n") {
		if strings.HasPrefix(l, "  ") {
			table = append(table, l)
			continue
		}
		flush()
		r.text(l)
	}
	flush()
}

// prose writes paragraphs.
func (r *roff) prose(s string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			r.line(".PP")
		}
		r.lines(paragraph)
	}
}

// literal writes lines unchanged, without filling.
func (r *roff) literal(lines []string) {
	r.line(".nf")
	for _, l := range lines {
		r.text(l)
	}
	r.line(".fi")
}

// flags writes the flags of a set.
func (r *roff) flags(title string, f *pflag.FlagSet) {
	if !f.HasAvailableFlags() {
		return
	}
	r.section(title)
	f.VisitAll(func(one *pflag.Flag) {
		if !one.Hidden {
			r.item(strings.TrimSpace(flagHead(one)), flagWords(one))
		}
	})
}

// escape escapes characters that mean something to roff. Signs that would take another shape in print keep the typed
// one.
func escape(s string) string {
	signs := map[rune]string{'\\': `\(rs`, '-': `\-`, '"': `\(dq`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`,
		'\t': "    "}
	var b strings.Builder
	for _, c := range s {
		switch sign, ok := signs[c]; {
		case ok:
			b.WriteString(sign)
		case c > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// start keeps a line from being a request.
func start(s string) string {
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
