package qr

import "slices"

// fix writes a module of a pattern.
func (q Code) fix(x, y int, dark bool) {
	m := qrFixed
	if dark {
		m |= qrDark
	}
	q.grid[y*q.size+x] = m
}

// patterns writes everything that is not data. It reserves the places of the format, whose content depends on the mask.
func (q Code) patterns(version int, t qrVersion) {
	for i := range q.size {
		q.fix(6, i, i%2 == 0)
		q.fix(i, 6, i%2 == 0)
	}
	last := q.size - 4
	q.finder(3, 3)
	q.finder(last, 3)
	q.finder(3, last)
	for i, y := range t.align {
		for k, x := range t.align {
			end := len(t.align) - 1
			if i == 0 && (k == 0 || k == end) || i == end && k == 0 {
				continue // a finder is there
			}
			q.alignment(x, y)
		}
	}
	q.format(0)
	if version >= 7 {
		q.version(version)
	}
}

// finder draws one of the three eyes around its middle, with the light line around it.
func (q Code) finder(cx, cy int) {
	for y := cy - 4; y <= cy+4; y++ {
		for x := cx - 4; x <= cx+4; x++ {
			if x < 0 || y < 0 || x >= q.size || y >= q.size {
				continue
			}
			ring := max(qrAbs(x-cx), qrAbs(y-cy))
			q.fix(x, y, ring != 2 && ring != 4)
		}
	}
}

func (q Code) alignment(cx, cy int) {
	for y := cy - 2; y <= cy+2; y++ {
		for x := cx - 2; x <= cx+2; x++ {
			q.fix(x, y, max(qrAbs(x-cx), qrAbs(y-cy)) != 1)
		}
	}
}

// qrBCH appends check bits to value: the remainder by the generator of the given degree.
func qrBCH(value, generator, degree int) int {
	rest := value << degree
	for i := 17; i >= degree; i-- {
		if rest>>i&1 == 1 {
			rest ^= generator << (i - degree)
		}
	}
	return value<<degree | rest
}

// qrFormat is the 15 bits that encode level M and a mask.
func qrFormat(mask int) int { return qrBCH(mask, 0x537, 10) ^ 0x5412 } // level M is 00

// format writes both copies of the format and the module that is always dark.
func (q Code) format(mask int) {
	bits := qrFormat(mask)
	dark := func(i int) bool { return bits>>i&1 == 1 }
	for i := range 6 {
		q.fix(8, i, dark(i))
		q.fix(5-i, 8, dark(9+i))
	}
	q.fix(8, 7, dark(6))
	q.fix(8, 8, dark(7))
	q.fix(7, 8, dark(8))
	for i := range 8 {
		q.fix(q.size-1-i, 8, dark(i))
	}
	for i := range 7 {
		q.fix(8, q.size-7+i, dark(8+i))
	}
	q.fix(8, q.size-8, true)
}

// version writes both copies of the version number.
func (q Code) version(version int) {
	bits := qrBCH(version, 0x1f25, 12)
	for i := range 18 {
		dark := bits>>i&1 == 1
		a, b := q.size-11+i%3, i/3
		q.fix(a, b, dark)
		q.fix(b, a, dark)
	}
}

// place writes the codewords in pairs of columns from the right, up and down in turn.
func (q Code) place(data []byte) {
	i := 0
	for right := q.size - 1; right > 0; right -= 2 {
		if right == 6 {
			right = 5 // the column of the timing pattern
		}
		for step := range q.size {
			y := step
			if (right+1)&2 == 0 {
				y = q.size - 1 - step
			}
			for _, x := range [2]int{right, right - 1} {
				at := y*q.size + x
				if q.grid[at]&qrFixed != 0 || i >= len(data)*8 {
					continue
				}
				if data[i/8]>>(7-i%8)&1 == 1 {
					q.grid[at] |= qrDark
				}
				i++
			}
		}
	}
}

// qrMask reports whether a mask flips the module.
func qrMask(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (x/3+y/2)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	}
	return ((x+y)%2+x*y%3)%2 == 0
}

// bestMask returns the code under the mask with the smallest penalty.
func (q Code) bestMask() Code {
	var best Code
	lowest := -1
	for mask := range 8 {
		one := Code{size: q.size, grid: slices.Clone(q.grid)}
		for i := range one.grid {
			if one.grid[i]&qrFixed == 0 && qrMask(mask, i%q.size, i/q.size) {
				one.grid[i] ^= qrDark
			}
		}
		one.format(mask)
		if p := one.penalty(); lowest < 0 || p < lowest {
			best, lowest = one, p
		}
	}
	return best
}

// penalty is the sum of the four penalty rules for masks.
func (q Code) penalty() int {
	sum, dark := 0, 0
	row, column := make([]bool, q.size), make([]bool, q.size)
	for a := range q.size {
		for b := range q.size {
			row[b], column[b] = q.Dark(b, a), q.Dark(a, b)
			if row[b] {
				dark++
			}
			if a > 0 && b > 0 && row[b] == row[b-1] && row[b] == q.Dark(b, a-1) && row[b] == q.Dark(b-1, a-1) {
				sum += 3
			}
		}
		sum += qrLine(row) + qrLine(column)
	}
	all := q.size * q.size
	return sum + 10*(qrAbs(dark*20-all*10)/all)
}

// qrLine judges one row or column: runs of five and more, and patterns like a finder with four light modules at a side.
func qrLine(line []bool) int {
	sum, run := 0, 0
	for i, v := range line {
		if i > 0 && v == line[i-1] {
			run++
		} else {
			run = 1
		}
		if run == 5 {
			sum += 3
		} else if run > 5 {
			sum++
		}
	}
	eye := []bool{true, false, true, true, true, false, true, false, false, false, false}
	back := slices.Clone(eye)
	slices.Reverse(back)
	for i := 0; i+len(eye) <= len(line); i++ {
		if part := line[i : i+len(eye)]; slices.Equal(part, eye) || slices.Equal(part, back) {
			sum += 40
		}
	}
	return sum
}

func qrAbs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
