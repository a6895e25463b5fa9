package main

import (
	"fmt"
	"math/rand/v2"
)

// A cutMode says what becomes of writes that were not synced.
type cutMode string

const (
	// drop: none of them is on the disk.
	drop cutMode = "drop"
	// part: some are. Each page shows one of its versions since the last sync, as if the kernel had written it back then.
	part cutMode = "part"
	// torn: as part, and in some pages each sector shows a version of its own.
	torn cutMode = "torn"
)

func parseMode(word string) (cutMode, error) {
	switch mode := cutMode(word); mode {
	case drop, part, torn:
		return mode, nil
	}
	return "", fmt.Errorf("%q is none of drop, part, torn", word)
}

// losses are the answer to a cut.
type losses struct {
	FilesUnsynced int `json:"filesUnsynced"`
	PagesUnsynced int `json:"pagesUnsynced"`
	PagesLost     int `json:"pagesLost"`
	PagesTorn     int `json:"pagesTorn"`
	BytesLost     int `json:"bytesLost"`
	SizesLost     int `json:"sizesLost"`
	NamesUnsynced int `json:"namesUnsynced"`
	NamesLost     int `json:"namesLost"`
}

// A cutPlan is the fate of one file. Sizes and truncates are metadata, which a journal keeps in their order: the disk has those before
// `endsAt`. Pages are data, which the kernel writes back in any order.
type cutPlan struct {
	size   uint64
	endsAt uint64
	// pick chooses among the versions that a page may show: from the first to the last one, both included.
	pick func(first, last int) int
	tear func() bool
}

// planCut loses all of a file, or nothing, or throws the dice for each page: with many pages the extremes would never come up.
func planCut(c *content, mode cutMode, dice *rand.Rand) cutPlan {
	never := func() bool { return false }
	all := cutPlan{size: c.size, endsAt: c.order + 1, tear: never, pick: func(_, last int) int { return last }}
	nothing := cutPlan{size: c.durableSize, tear: never, pick: func(first, _ int) int { return first }}
	if mode == drop {
		return nothing
	}
	switch dice.IntN(4) {
	case 0:
		return all
	case 1:
		return nothing
	}
	plan := cutPlan{pick: func(first, last int) int { return first + dice.IntN(last-first+1) }, tear: never}
	if mode == torn {
		plan.tear = func() bool { return dice.IntN(2) == 0 }
	}
	kept := dice.IntN(len(c.sizes) + 1)
	plan.size, plan.endsAt = c.durableSize, c.order+1
	if kept > 0 {
		plan.size = c.sizes[kept-1].size
	}
	if kept < len(c.sizes) {
		plan.endsAt = c.sizes[kept].order
	}
	return plan
}

const isDurable = -1

// settle answers what the disk has of a page, and whether it mixes versions.
func (plan cutPlan) settle(p *page) (data []byte, isTorn bool) {
	first, last := plan.allowed(p)
	if !plan.tear() {
		return p.at(plan.pick(first, last)), false
	}
	mixed := make([]byte, pageSize)
	for from := 0; from < pageSize; from += sectorSize {
		if data := p.at(plan.pick(first, last)); data != nil {
			copy(mixed[from:from+sectorSize], data[from:])
		}
	}
	for i := first; i <= last; i++ {
		if countDifferent(p.at(i), mixed) == 0 {
			return mixed, false
		}
	}
	return mixed, true
}

// allowed are the versions between the last truncate that is on the disk and the first one that is not.
func (plan cutPlan) allowed(p *page) (first, last int) {
	first, last = isDurable, len(p.since)-1
	for i, v := range p.since {
		if v.isTruncate && v.order < plan.endsAt {
			first = i
		} else if v.isTruncate {
			return first, i - 1
		}
	}
	return first, last
}

func (p *page) at(i int) []byte {
	if i == isDurable {
		return p.durable
	}
	return p.since[i].data
}
