package verify

import "strings"

// confusables maps characters to the letter that they read as, in upper case. The first character of a line is the
// letter, the others are its look-alikes in Greek, Cyrillic, Cherokee, Lisu, Canadian syllabics, Coptic, Armenian,
// phonetic and mathematical writing, and its forms with accents and strokes. I stands for the one stroke of I, l, 1 and
// |, O for the ring of O and 0.
func confusables() map[rune]string {
	out := map[rune]string{}
	for line := range strings.Lines(lookAlikes) {
		to := ""
		for _, r := range strings.TrimSpace(line) {
			if to == "" {
				to = string(r)
				continue
			}
			if r != ' ' {
				out[r] = to
			}
		}
	}
	return out
}

const lookAlikes = `
A ΑАᎪᗅꓮ𐊠ᴀαаɑⲀⲁ∀ΆÀÁÂÃÄÅĀĂĄǍȀȂȦǺḀẠẢẤẦẨẪẬẮẰẲẴẶàáâãäåāăąǎȁȃȧǻḁạảấầẩẫậắằẳẵặӐӒӑӓȺⱥªₐᵃ
B ΒВᏴᗷꓐʙвβßɃɓƁḂḄḆḃḅḇƀƂ฿₿ЬьᏏɞ8ⲂⲃᵇЪ
C СсϹϲⅭⅽᴄᏟꓚⲤⲥℂℭ¢çÇćčĉċĆČĈĊƇƈȻȼꮯ⊂ҪҫᶜʗↃ₵
D ⅮⅾᎠꓓᗞᗪԁɗĐđĎďÐðḊḋḌḍḎḏḐḑḒḓᴅɖⅆⅅᵈԀƊɒ₫
E ΕЕеεᎬꓰⴹ℮ℯᴇÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚẸẺẼẾỀỂỄỆèéêëēĕėęěȅȇȩḕḗḙḛẹẻẽếềểễệҼҽЄєЀЁѐёɛ€ɘƐΈⲈⲉᵉₑ∃ℰ⋿Əə
F ϜꓝᖴƑƒℱḞḟꞘꜰӺғҒſᶠ
G ԌᏀꓖɢĠġĞğĜĝĢģǤǥǦǧǴǵƓɡցɠᵍƃ
H ΗНнᎻꓧⲎʜℋℌℍℎℏһհĤĥĦħḢḣḤḥḦḧḨḩḪḫҺҢңҤҥӇӈӉӊΉʰⱧⱨ
I ΙІіӀӏιᎥⅠⅰıɩɪꓲⲒⲓìíîïīĭįĩǐȉȋḭḯỉịÌÍÎÏĪĬĮİĨǏȈȊḬḮỈỊЇїΊΪ|ǀ׀ᛁlLℓⅼⅬʟᏞꓡᒪⳐⳑŁłĹĺĻļĽľĿŀḶḷḸḹḺḻḼḽƚȽɫ1!¡ו۱١ⵏ∣⏐❘ℐℑℒᴵᶦˡɭ
J ЈјᎫꓙᴊĵĴʝͿϳǰɈɉʲⅉ
K ΚКκкᏦꓗᴋKⲔⲕķĶĸƘƙǨǩḰḱḲḳḴḵҚқҜҝҞҟҠҡӃӄϏᵏ₭ⱩⱪꝀꝁ
M ΜМмᎷꓟᗰⲘⲙᴍⅯⅿϺℳṀṁṂṃḾḿᵐʍӍӎꟽ
N ΝꓠⲚɴℕñÑńŃňŇņŅǸǹṄṅṆṇṈṉṊṋηпոռƝɲŋŊɳₙⁿИи₦ПՈ
O ΟОоοσꓳⲞⲟՕօഠ০୦〇ᴏöÖóÓòÒôÔõÕøØōŌŏŎőŐǒǑǫǪȯȮȱȭọỌỏỎốỐồỒổỔỗỖộỘớờởỡợƠơӦӧόΌℴⵔ◯○0ΘθѲѳӨөɵ⊙⊖٥۵੦૦௦๐໐၀ᴼºₒ°∘ס
P ΡРрρᏢꓑᑭⲢⲣᴘℙ℘ṔṕṖṗÞþϷƤƥᵖ₱ⱣҎҏ
Q ℚԚԛɊɋʠ
R ᎡᏒᖇꓣʀℛℜℝŔŕŘřŖŗȐȑȒȓṘṙṚṛṜṝṞṟгᴦɌɍƦʳɾᵣЯя₨
S ЅѕՏᏚᏕꓢ𐊖ꜱśŚšŠşŞșȘŝŜṠṡṢṣṤṥṦṧṨṩƽƼ§$5ʂˢₛ
T ΤТтτᎢꓔⲦⲧᴛ⊤⟙ťŤţŢțȚŧŦṪṫṬṭṮṯṰṱẗƬƭƮʈҬҭᵗ₮†₸Ⱦ┬
U Սս⋃∪ᑌꓴሀυᴜµμüÜúÚùÙûÛūŪůŮűŰųŲŭŬũŨǔǓǖǘǚǜǕǗǙǛȔȕȖȗụỤủỦứỨừỪửỬữỮựỰưƯʊʋɄᵘύϋ
V ѴѵνᏙꓦᐯⅤⅴᴠ∨⋁ṼṽṾṿƲᵛ√Ѷѷ
W ԜԝᎳᏔꓪᴡωѡաɯŵŴẀẁẂẃẄẅẆẇẈẉẘʷ₩шШѠⱲⱳ
X ΧХхχꓫⲬⲭⅩⅹ᙭╳×✕✖ẊẋẌẍҲҳӼӽӾӿˣₓ⨯
Y ΥҮҰүұУуγᎩᎽꓬʏⲨⲩýÝÿŸŷŶỲỳỴỵỶỷỸỹẏẎƳƴ¥ყϒЎўӮӯӰӱӲӳΎʸ
Z ΖᏃꓜᴢźŹžŽżŻẐẑẒẓẔẕℤℨʐƵƶȤȥ2ƧᶻⱫⱬ
3 ЗзӠӡƷʒЭэ
. ․·•∙⋅‧・｡。٠
+ ᐩ➕✚﹢
- ‐‑‒–—−﹣
_ ＿
`

// styled returns the plain letter or digit of one that is written full-width, in a circle or a square, raised, lowered,
// as a flag, or in a mathematical alphabet: Latin in groups of 26, digits in groups of 10, Greek in groups of 58 with a
// theta and a nabla in between.
func styled(r rune) rune {
	for _, x := range []struct{ from, to, first, group rune }{
		{0xFF01, 0xFF5E, '!', 94}, // full-width
		{0x24B6, 0x24E9, 'A', 26}, // circles
		{0x249C, 0x24B5, 'A', 26}, // brackets
		{0x2460, 0x2468, '1', 9},  // digits in circles
		{0x2080, 0x2089, '0', 10}, // lowered
		{0x2074, 0x2079, '4', 6},  // raised
		{0x2070, 0x2070, '0', 1},
		{0x00B2, 0x00B3, '2', 2},
		{0x00B9, 0x00B9, '1', 1},
		{0x1F1E6, 0x1F1FF, 'A', 26}, // flags
		{0x1F110, 0x1F129, 'A', 26}, // brackets, squares, filled circles, filled squares
		{0x1F130, 0x1F149, 'A', 26},
		{0x1F150, 0x1F169, 'A', 26},
		{0x1F170, 0x1F189, 'A', 26},
		{0x1D400, 0x1D6A3, 'A', 26}, // mathematical
		{0x1D6A4, 0x1D6A4, 'I', 1},
		{0x1D7CE, 0x1D7FF, '0', 10},
		{0x1D6A8, 0x1D7C9, 'Α', 58}, // Greek capitals; what is behind them in a group becomes a letter below
	} {
		if r < x.from || r > x.to {
			continue
		}
		n := (r - x.from) % x.group
		if x.group == 58 && n > 25 && n < 51 {
			return 'α' + n - 26
		}
		if x.group == 58 && n > 24 {
			return r
		}
		return x.first + n
	}
	return r
}
