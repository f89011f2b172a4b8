package qr

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coffer/ui/present"
)

// qrReader reads a code the way a scanner does, from the modules alone. It shares nothing with the encoder: logarithms
// make the field, rectangles give the places of the patterns, and a table of total codewords splits the blocks.
type qrReader struct {
	dark    func(x, y int) bool
	size    int
	version int
	exp     [255]int
	log     [256]int
}

func newQRReader(size int, dark func(x, y int) bool) (*qrReader, error) {
	r := &qrReader{dark: dark, size: size, version: (size - 17) / 4}
	if size != 17+4*r.version || r.version < 1 || r.version > 10 {
		return nil, fmt.Errorf("size %d", size)
	}
	v := 1
	for i := range 255 {
		r.exp[i], r.log[v] = v, i
		if v *= 2; v > 255 {
			v ^= 0b100011101
		}
	}
	return r, nil
}

// function reports modules that carry no data.
func (r *qrReader) function(x, y int) bool {
	n := r.size
	in := func(x0, y0, w, h int) bool { return x >= x0 && x < x0+w && y >= y0 && y < y0+h }
	if x == 6 || y == 6 || in(0, 0, 9, 9) || in(n-8, 0, 8, 9) || in(0, n-8, 9, 8) {
		return true
	}
	if r.version >= 7 && (in(n-11, 0, 3, 6) || in(0, n-11, 6, 3)) {
		return true
	}
	centres := map[int][]int{1: {}, 2: {18}, 3: {22}, 4: {26}, 5: {30}, 6: {34}, 7: {6, 22, 38}, 8: {6, 24, 42},
		9: {6, 26, 46}, 10: {6, 28, 50}}[r.version]
	for _, cy := range centres {
		for _, cx := range centres {
			corner := cx == 6 && cy == 6 || cx == 6 && cy == n-7 || cx == n-7 && cy == 6
			if !corner && in(cx-2, cy-2, 5, 5) {
				return true
			}
		}
	}
	return false
}

// qrFormats are the fifteen bits of level M for each mask, as ISO/IEC 18004 table C.1 lists them.
func qrFormats() [8]string {
	return [8]string{
		"101010000010010", "101000100100101", "101111001111100", "101101101001011",
		"100010111111001", "100000011001110", "100111110010111", "100101010100000",
	}
}

// mask reads both copies of the format.
func (r *qrReader) mask() (int, error) {
	n := r.size
	var a, b strings.Builder
	bit := func(to *strings.Builder, x, y int) {
		if r.dark(x, y) {
			to.WriteByte('1')
			return
		}
		to.WriteByte('0')
	}
	for _, x := range []int{0, 1, 2, 3, 4, 5, 7, 8} { // the highest bit is on the left
		bit(&a, x, 8)
	}
	for _, y := range []int{7, 5, 4, 3, 2, 1, 0} {
		bit(&a, 8, y)
	}
	for i := range 7 {
		bit(&b, 8, n-1-i)
	}
	for i := range 8 {
		bit(&b, n-8+i, 8)
	}
	if a.String() != b.String() {
		return 0, fmt.Errorf("the copies of the format differ: %s, %s", a.String(), b.String())
	}
	for mask, want := range qrFormats() {
		if want == a.String() {
			return mask, nil
		}
	}
	return 0, fmt.Errorf("format %s is not of level M", a.String())
}

// words walks the columns and removes the mask.
func (r *qrReader) words(mask int) []int {
	flip := []func(i, j int) bool{
		func(i, j int) bool { return (i+j)%2 == 0 }, func(i, _ int) bool { return i%2 == 0 },
		func(_, j int) bool { return j%3 == 0 },
		func(i, j int) bool { return (i+j)%3 == 0 }, func(i, j int) bool { return (i/2+j/3)%2 == 0 },
		func(i, j int) bool { return i*j%2+i*j%3 == 0 },
		func(i, j int) bool { return (i*j%2+i*j%3)%2 == 0 }, func(i, j int) bool { return ((i+j)%2+i*j%3)%2 == 0 },
	}[mask]
	var bits []bool
	up := true
	for x := r.size - 1; x > 0; x -= 2 {
		if x == 6 {
			x--
		}
		for k := range r.size {
			y := k
			if up {
				y = r.size - 1 - k
			}
			for _, at := range []int{x, x - 1} {
				if !r.function(at, y) {
					bits = append(bits, r.dark(at, y) != flip(y, at))
				}
			}
		}
		up = !up
	}
	var out []int
	for i := 0; i+8 <= len(bits); i += 8 {
		w := 0
		for _, on := range bits[i : i+8] {
			w *= 2
			if on {
				w++
			}
		}
		out = append(out, w)
	}
	return out
}

// blocks undoes the interleaving and checks every block: all its syndromes are zero.
func (r *qrReader) blocks(words []int) ([]int, error) {
	total := []int{26, 44, 70, 100, 134, 172, 196, 242, 292, 346}[r.version-1]
	check := []int{10, 16, 26, 18, 24, 16, 18, 22, 22, 26}[r.version-1]
	count := []int{1, 1, 1, 2, 2, 4, 4, 4, 5, 5}[r.version-1]
	if len(words) != total {
		return nil, fmt.Errorf("%d codewords, not %d", len(words), total)
	}
	data := total - check*count
	blocks := make([][]int, count)
	room := func(b int) int { // of data; the last blocks take the rest
		if b >= count-data%count {
			return data/count + 1
		}
		return data / count
	}
	at := 0
	for i := 0; at < data; i++ {
		for b := range blocks {
			if i < room(b) {
				blocks[b] = append(blocks[b], words[at])
				at++
			}
		}
	}
	for range check {
		for b := range blocks {
			blocks[b] = append(blocks[b], words[at])
			at++
		}
	}
	var out []int
	for b, block := range blocks {
		for s := range check {
			sum := 0
			for i, w := range block {
				if w != 0 {
					sum ^= r.exp[(r.log[w]+s*(len(block)-1-i))%255]
				}
			}
			if sum != 0 {
				return nil, fmt.Errorf("block %d: syndrome %d is %d", b, s, sum)
			}
		}
		out = append(out, block[:room(b)]...)
	}
	return out, nil
}

// read returns the text and its mode.
func (r *qrReader) read() (text string, mode int, err error) {
	mask, err := r.mask()
	if err != nil {
		return "", 0, err
	}
	data, err := r.blocks(r.words(mask))
	if err != nil {
		return "", 0, err
	}
	at := 0
	take := func(n int) int {
		v := 0
		for range n {
			v = v*2 + data[at/8]>>(7-at%8)&1
			at++
		}
		return v
	}
	mode = take(4)
	var b strings.Builder
	switch mode {
	case 4:
		n := 8
		if r.version == 10 {
			n = 16
		}
		for range take(n) {
			b.WriteByte(byte(take(8)))
		}
	case 2:
		const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
		n := 9
		if r.version == 10 {
			n = 11
		}
		left := take(n)
		for ; left > 1; left -= 2 {
			v := take(11)
			b.WriteString(letters[v/45:v/45+1] + letters[v%45:v%45+1])
		}
		if left == 1 {
			v := take(6)
			b.WriteString(letters[v : v+1])
		}
	default:
		return "", mode, fmt.Errorf("mode %d", mode)
	}
	for i := at; i < min(at+4, len(data)*8); i++ { // the end mark
		if data[i/8]>>(7-i%8)&1 == 1 {
			return "", mode, errors.New("no end mark")
		}
	}
	return b.String(), mode, nil
}

func readQR(t testing.TB, q Code) (string, int) {
	t.Helper()
	r, err := newQRReader(q.Size(), q.Dark)
	if err != nil {
		t.Fatal(err)
	}
	text, mode, err := r.read()
	if err != nil {
		t.Fatal(err)
	}
	return text, mode
}

func mustQR(t testing.TB, text string) Code {
	t.Helper()
	q, err := New(text)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(text), err)
	}
	return q
}

func TestQRIsReadBackByAnIndependentReader(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(
			rapid.StringN(0, 150, 213), rapid.StringMatching(`[0-9A-Z $%*+./:-]{0,311}`),
			rapid.StringMatching(`0x[0-9a-fA-F]{40}`),
			rapid.StringMatching(`[1-9A-HJ-NP-Za-km-z]{32,44}`),
		).Draw(rt, "text")
		if got, _ := readQR(t, mustQR(t, text)); got != text {
			rt.Fatalf("%q was read as %q", text, got)
		}
	})
}

// Capacities of level M, from ISO/IEC 18004 table 7: the largest text of each version, and one more character needs the
// next version.
func TestQRTakesTheSmallestVersionThatHoldsTheText(t *testing.T) {
	for mode, room := range map[string][]int{
		"a": {14, 26, 42, 62, 84, 106, 122, 152, 180, 213},
		"A": {20, 38, 61, 90, 122, 154, 178, 221, 262, 311},
	} {
		for i, n := range room {
			q := mustQR(t, strings.Repeat(mode, n))
			if q.Size() != 21+4*i {
				t.Errorf("%d of %q: %d modules, not %d", n, mode, q.Size(), 21+4*i)
			}
			if text, got := readQR(t, q); text != strings.Repeat(mode, n) ||
				got != map[string]int{"a": 4, "A": 2}[mode] {
				t.Errorf("%d of %q in mode %d: %q", n, mode, got, text)
			}
		}
		if _, err := New(strings.Repeat(mode, room[9]+1)); !errors.Is(err, ErrLong) {
			t.Errorf("one more than version 10 holds: %v", err)
		}
	}
}

// The example of ISO/IEC 18004 annex I (01234567, 1-M), and HELLO WORLD in 1-M, a widely published example.
func TestQRCheckBytesArePublishedOnes(t *testing.T) {
	for _, c := range []struct{ data, check []byte }{
		{
			[]byte{0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11},
			[]byte{0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55},
		},
		{
			[]byte{32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17},
			[]byte{196, 35, 39, 119, 235, 215, 231, 226, 93, 23},
		},
	} {
		if got := qrCheck(c.data, qrGenerator(10)); !bytes.Equal(got, c.check) {
			t.Errorf("% x, not % x", got, c.check)
		}
	}
	if data, ok := qrData("HELLO WORLD", 1, 16); !ok ||
		!bytes.Equal(data, []byte{32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17}) {
		t.Errorf("HELLO WORLD is % d", data)
	}
}

func TestQRFormatAndVersionBitsArePublishedOnes(t *testing.T) {
	for mask, want := range qrFormats() {
		if got := fmt.Sprintf("%015b", qrFormat(mask)); got != want {
			t.Errorf("mask %d: %s, not %s", mask, got, want)
		}
	}
	for version, want := range map[int]string{7: "000111110010010100", 8: "001000010110111100", 9: "001001101010011001",
		10: "001010010011010011"} {
		if got := fmt.Sprintf("%018b", qrBCH(version, 0x1f25, 12)); got != want {
			t.Errorf("version %d: %s, not %s", version, got, want)
		}
		q := mustQR(t, strings.Repeat("a", []int{122, 152, 180, 213}[version-7]))
		for i := range 18 { // bit 0 is at the top left of the block right above
			dark := want[17-i] == '1'
			if q.Dark(q.Size()-11+i%3, i/3) != dark || q.Dark(i/3, q.Size()-11+i%3) != dark {
				t.Errorf("version %d: bit %d is not where it belongs", version, i)
			}
		}
	}
}

func TestQRHasItsPatterns(t *testing.T) {
	eye := []string{"#######.", "#.....#.", "#.###.#.", "#.###.#.", "#.###.#.", "#.....#.", "#######.", "........"}
	for n := 1; n < 213; n += 13 {
		q := mustQR(t, strings.Repeat("x", n))
		s := q.Size()
		for y, line := range eye {
			for x := range line {
				want := line[x] == '#'
				if q.Dark(x, y) != want || q.Dark(s-1-x, y) != want || q.Dark(x, s-1-y) != want {
					t.Fatalf("%d bytes: an eye is wrong at %d, %d", n, x, y)
				}
			}
		}
		for i := 8; i < s-8; i++ {
			if q.Dark(i, 6) != (i%2 == 0) || q.Dark(6, i) != (i%2 == 0) {
				t.Fatalf("%d bytes: the timing pattern is wrong at %d", n, i)
			}
		}
		if !q.Dark(8, s-8) {
			t.Fatalf("%d bytes: the dark module is light", n)
		}
	}
}

// The mask has the smallest penalty, counted here in another way.
func TestQRTakesTheMaskWithTheSmallestPenalty(t *testing.T) {
	for _, text := range []string{"0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442", "HELLO WORLD", "",
		strings.Repeat("a", 200)} {
		q := mustQR(t, text)
		r, err := newQRReader(q.Size(), q.Dark)
		if err != nil {
			t.Fatal(err)
		}
		mask, err := r.mask()
		if err != nil {
			t.Fatal(err)
		}
		got := countedPenalty(q)
		for other := range 8 {
			x := Code{size: q.size, grid: append([]qrModule{}, q.grid...)}
			for i := range x.grid {
				if x.grid[i]&qrFixed == 0 && qrMask(other, i%q.size, i/q.size) != qrMask(mask, i%q.size, i/q.size) {
					x.grid[i] ^= qrDark
				}
			}
			x.format(other)
			if p := countedPenalty(x); p < got {
				t.Errorf("%q: mask %d costs %d, mask %d would cost %d", text, mask, got, other, p)
			}
			if back, _ := readQR(t, x); back != text {
				t.Errorf("%q under mask %d is read as %q", text, other, back)
			}
		}
	}
}

func countedPenalty(q Code) int {
	n, sum, dark := q.Size(), 0, 0
	var lines []string
	for i := range n {
		var row, column strings.Builder
		for k := range n {
			row.WriteString(map[bool]string{true: "1", false: "0"}[q.Dark(k, i)])
			column.WriteString(map[bool]string{true: "1", false: "0"}[q.Dark(i, k)])
		}
		lines = append(lines, row.String(), column.String())
		dark += strings.Count(row.String(), "1")
	}
	for _, l := range lines {
		for _, run := range strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(l, "01", "0 1"), "10", "1 0"),
			func(r rune) bool { return r == ' ' }) {
			if len(run) >= 5 {
				sum += len(run) - 2
			}
		}
		for i := range l {
			if strings.HasPrefix(l[i:], "10111010000") || strings.HasPrefix(l[i:], "00001011101") {
				sum += 40
			}
		}
	}
	for y := range n - 1 {
		for x := range n - 1 {
			if c := q.Dark(x, y); c == q.Dark(x+1, y) && c == q.Dark(x, y+1) && c == q.Dark(x+1, y+1) {
				sum += 3
			}
		}
	}
	for percent := 5; percent <= 50; percent += 5 {
		if d := dark*100 - 50*n*n; d >= percent*n*n || -d >= percent*n*n {
			sum += 10
		}
	}
	return sum
}

func TestQRIsDrawnDarkOnLightOnEveryTerminal(t *testing.T) {
	const text = "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"
	q := mustQR(t, text)
	for _, profile := range []colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256,
		colorprofile.TrueColor} {
		for _, dark := range []bool{true, false} {
			for _, ascii := range []bool{true, false} {
				l := Look{Dark: dark, ASCII: ascii, Profile: profile}
				for _, quiet := range []int{2, 4} {
					lines := q.Lines(l, quiet)
					w, h := q.Room(l, quiet)
					if len(lines) != h {
						t.Fatalf("%d lines, not %d", len(lines), h)
					}
					for _, line := range lines {
						if present.Width(ansi.Strip(line)) != w {
							t.Fatalf("%d cells, not %d", present.Width(ansi.Strip(line)), w)
						}
					}
					coloured := strings.Contains(lines[0], "\x1b[")
					if coloured != (profile >= colorprofile.ANSI) {
						t.Errorf("%v: coloured is %v", profile, coloured)
					}
					inkIsDark := coloured || !dark
					r, err := newQRReader(q.Size(), func(x,
						y int) bool {
						return inked(lines, x+quiet, y+quiet, ascii) == inkIsDark
					})
					if err != nil {
						t.Fatal(err)
					}
					if got, _, err := r.read(); got != text || err != nil {
						t.Errorf("profile %v, dark %v, ASCII %v: read %q, %v", profile, dark, ascii, got, err)
					}
					for x := range w {
						if !ascii && inked(lines, x, 0, false) == inkIsDark {
							t.Fatal("the quiet zone is not light")
						}
					}
				}
			}
		}
	}
}

// inked reports whether a module is drawn with ink.
func inked(lines []string, x, y int, ascii bool) bool {
	if ascii {
		return ansi.Strip(lines[y])[2*x] == '#'
	}
	switch []rune(ansi.Strip(lines[y/2]))[x] {
	case '█':
		return true
	case '▀':
		return y%2 == 0
	case '▄':
		return y%2 == 1
	}
	return false
}

func FuzzQR(f *testing.F) {
	f.Add("0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442")
	f.Add("HTTPS://A.B/$%*+-")
	f.Add("\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := New(text)
		if err != nil {
			if len(text) <= 213 {
				t.Fatalf("%d bytes: %v", len(text), err)
			}
			return
		}
		if got, _ := readQR(t, q); got != text {
			t.Fatalf("%q was read as %q", text, got)
		}
	})
}

func BenchmarkQRAddress(b *testing.B) {
	for b.Loop() {
		if _, err := New("0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"); err != nil {
			b.Fatal(err)
		}
	}
}
