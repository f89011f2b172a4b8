//go:build unix

package flows

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
	"coffer/wallet/consent"
)

// step is a line of the guide's table of the first payment.
type step struct {
	press string
	see   []string
}

// firstSteps reads the table.
func firstSteps(t *testing.T) []step {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(raw), "| press | you see | what it means |\n|---|---|---|\n")
	if !ok {
		t.Fatal("the guide has no table of the first payment")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	code := regexp.MustCompile("`([^`]+)`")
	var out []step
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(row, " | ")
		s := step{press: strings.Trim(cells[0], "|` ")}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			s.see = append(s.see, m[1])
		}
		out = append(out, s)
	}
	return out
}

// TestANewcomersFirstFiveMinutesAreAsTheGuideSays plays the guide's table from an empty home. Each key is on the screen
// before it is pressed. From the first start to COMPLETED it takes nine presses at most.
func TestANewcomersFirstFiveMinutesAreAsTheGuideSays(t *testing.T) {
	t.Parallel()
	names := map[string]string{"↵": "\r", "esc": "\x1b"}
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			_, env := rig.Home(t)
			p := rig.At(t, rig.Start(t, env, size[0], size[1]))
			presses, completed := 0, false
			for _, s := range firstSteps(t) {
				keys := s.press
				switch {
				case keys == "the figure that it asks for":
					keys = p.Finds(rig.ToType)
				case strings.HasPrefix(keys, "type "): // a name, in a list that is open
					keys = strings.TrimPrefix(keys, "type `")
				case keys != "":
					p.Waits(keys+" among the keys on the screen", regexp.MustCompile(
						`(^|[\s›:(])`+regexp.QuoteMeta(keys)+`(\s|/)`).MatchString)
				}
				if name, ok := names[keys]; ok {
					keys = name
				}
				presses += len(keys)
				p.Rests(consent.Quiet) // a person reads, and the first moments of a screen confirm nothing
				p.Types(keys)
				p.Sees(s.see...)
				if slices.Contains(s.see, "COMPLETED") {
					completed = true
					if t.Logf("%d presses", presses); presses > 9 {
						t.Errorf("%d presses from the first start to COMPLETED, 9 at most", presses)
					}
				}
			}
			if err := p.Ends(); err != nil || !completed {
				t.Errorf("%v, completed %v", err, completed)
			}
		})
	}
}
