package linear

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds a line of the input, in bytes: more than any call data of an intent.
const maxLine = 600_000

// errEnd says that the input has ended.
var errEnd = errors.New("the input has ended")

// line is one line of the input, trimmed, and the time it arrived. wrong says why it cannot be an answer.
type line struct {
	text  string
	wrong string
	at    time.Time
}

// input reads lines one by one, each only when it is asked for: between two questions nothing reads, so that another
// reader can take a passphrase.
type input struct {
	clock   func() time.Time
	want    chan struct{}
	got     chan read
	pending bool // a line was asked for and has not arrived
	err     error
}

// read is the result of one reading.
type read struct {
	line
	err error
}

func newInput(r io.Reader, clock func() time.Time) *input {
	in := &input{clock: clock, want: make(chan struct{}), got: make(chan read, 1)}
	go func() {
		lines := bufio.NewReaderSize(r, 4096)
		for range in.want {
			l, err := readLine(lines)
			in.got <- read{l, err}
		}
	}()
	return in
}

// close stops reading after the present line, if any.
func (in *input) close() { close(in.want) }

// ask makes sure that a line is being read; the caller passes what arrives to took.
func (in *input) ask() <-chan read {
	if !in.pending && in.err == nil {
		in.pending = true
		in.want <- struct{}{}
	}
	return in.got
}

// took accepts the result of a reading.
func (in *input) took(r read) (line, error) {
	in.pending = false
	if r.err != nil {
		in.err = r.err
		if errors.Is(r.err, io.EOF) {
			in.err = errEnd
		}
		return line{}, in.err
	}
	r.at = in.clock()
	return r.line, nil
}

// next is the next line. It returns errEnd at the end of the input, and the error of ctx if ctx ends first.
func (in *input) next(ctx context.Context) (line, error) {
	if in.err != nil {
		return line{}, in.err
	}
	if err := ctx.Err(); err != nil {
		return line{}, err
	}
	select {
	case r := <-in.ask():
		return in.took(r)
	case <-ctx.Done():
		return line{}, ctx.Err()
	}
}

// readLine reads up to the end of a line. Text after the last line end is not a line: io.EOF. It keeps nothing of a
// line that is too long.
func readLine(r *bufio.Reader) (line, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case long:
		case len(text)+len(part) > maxLine+1:
			long, text = true, nil
		default:
			text = append(text, part...)
		}
		switch {
		case err == nil && long:
			return line{wrong: fmt.Sprintf("That line is longer than %d characters.", maxLine)}, nil
		case err == nil:
			return cleanLine(string(text)), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{}, err
		}
	}
}

// cleanLine trims a line and refuses one with anything but text in it, such as the arrow keys of a terminal.
func cleanLine(text string) line {
	text = strings.Trim(strings.ReplaceAll(text, "\t", " "), " \r\n")
	if !utf8.ValidString(text) || strings.ContainsFunc(text,
		func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }) {
		return line{wrong: "That line contains a control key: leave arrow and function keys out."}
	}
	return line{text: text}
}
