// Was die Optionen der Lernverfahren bedeuten, auf Deutsch. Die Seite hat die englischen Texte von
// den Verfahren selbst.

export const OPTIONS: Readonly<Record<string, string>> = {
  "2048..1048576, the most that all buffers together may take":
    "2048..1048576: so viele Bytes dürfen alle Puffer zusammen höchstens belegen",
  "after labels in runs, while no labels come, classes are assumed to be equally likely (even), or as frequent as they were taught (taught); where features tell nothing, the class that was taught most is predicted, with either":
    "nach Namen, die in Strecken kamen, solange keine Namen kommen, gelten die Klassen als gleich wahrscheinlich (even) oder als so häufig, wie sie gelehrt wurden (taught); wo die Merkmale nichts sagen, wird mit beidem die Klasse vorhergesagt, die am meisten gelehrt wurde",
  "2..1024, recent samples that shrubs are grown on and weights are fitted to; 0: as many as fit into 16 KB, from 16 up to 128, or up to 8 per class if that is more":
    "2..1024, die letzten Beispiele, an denen Büsche wachsen und Gewichte angepasst werden; 0: so viele, wie in 16 KB passen, 16 bis 128, oder bis zu 8 je Klasse, wenn das mehr ist",
  "1..255, the most shrubs in the ensemble": "1..255, so viele Büsche hat das Ensemble höchstens",
  "1..30, the longest path of tests; a shrub never has more than `window` leaves":
    "1..30, der längste Weg durch einen Busch; er hat nie mehr als `window` Blätter",
  "1/1024..64, step size of the weights' gradient descent, rounded to 12 bits; 8 to 32 suits streams with long runs of one label, 0.05 to 0.2 noisy ones":
    "1/1024..64, Schrittweite des Gradientenabstiegs der Gewichte, auf 12 Bit gerundet; 8 bis 32 passt zu langen Folgen derselben Klasse, 0,05 bis 0,2 zu verrauschten Daten",
  '"mse" or "cross_entropy"': "„mse“ oder „cross_entropy“",
  '"best" (CART) or "random" (one random threshold per feature)':
    "„best“ (CART) oder „random“ (je Merkmal eine zufällige Schwelle)",
  "0..features, features drawn for each node; 0: all of them":
    "0..Zahl der Merkmale: so viele werden für jeden Knoten gezogen; 0: alle",
  '"proba" (class frequencies in 8 bits) or "class" (the majority class alone)':
    "„proba“ (Häufigkeiten der Klassen in 8 Bit) oder „class“ (nur die häufigste Klasse)",
  "1..32767: grow a shrub after every N samples, or errors; 0: after every sixteenth of the window if that is 0, too, else after each":
    "1..32767: nach so vielen Beispielen oder Fehlern wächst ein Busch; 0: nach jedem Sechzehntel von `window`, wenn auch das 0 ist, sonst nach jedem",
  '"sample" or "error": what train_every counts': "„sample“ oder „error“: ob train_every Beispiele oder Fehler zählt",
  "8 or 16, bits of each code that the window and the thresholds keep":
    "8 oder 16: so viele Bit jedes Werts werden für Fenster und Schwellen behalten",
  "0..2**30 - 1, seed of the model's own random numbers": "0..2**30 - 1, Startwert der Zufallszahlen des Modells",
  "0..30, the longest path of tests; with 0 the tree is one leaf: naive Bayes, or the majority class":
    "0..30, der längste Weg durch den Baum; mit 0 ist er ein einziges Blatt: naiver Bayes oder die häufigste Klasse",
  "1..65535, inner nodes and leaves together, alternate subtrees included; 0: four for each of `leaves`, less one":
    "1..65535, innere Knoten und Blätter, auch die der Ersatzbäume; 0: vier je Blatt von `leaves`, weniger eins",
  '1..65534, slots for statistics: this many leaves learn (with "efdt", inner nodes take one each, too), the others only predict; 0: as many as fit into 16 KB, up to 32':
    "1..65534, Plätze für Statistik: so viele Blätter lernen (mit „efdt“ braucht auch jeder innere Knoten einen), die anderen sagen nur vorher; 0: so viele, wie in 16 KB passen, bis zu 32",
  "1..65535, samples that a leaf learns between two attempts to split":
    "1..65535, so viele Beispiele lernt ein Blatt zwischen zwei Versuchen, sich zu teilen",
  "1/2**29..0.5, the delta of Hoeffding's bound": "1/2**29..0,5, das Delta der Hoeffding-Schranke",
  "0..1; once the bound is below it, the two best splits count as equally good":
    "0..1; liegt die Schranke darunter, gelten die zwei besten Teilungen als gleich gut",
  '"infogain" or "gini"': "„infogain“ oder „gini“",
  '"vfdt" (a leaf splits for good), "efdt" (a leaf splits as soon as that beats not splitting, and inner nodes revise their splits), "svfdt1" (a leaf splits only if it is as impure, and gains as much, as others that split) or "svfdt2" (the same, but high impurity or gain is enough by itself)':
    "„vfdt“ (ein Blatt teilt sich endgültig), „efdt“ (es teilt sich, sobald das besser ist als nichts zu tun, und innere Knoten überprüfen ihre Teilung), „svfdt1“ (es teilt sich nur, wenn es so gemischt ist und so viel gewinnt wie andere, die sich teilten) oder „svfdt2“ (eins von beidem genügt, wenn es groß ist)",
  "0..1, the omega of HT-REG, a factor on the gain of features that the path does not test yet; 1: no regularization":
    "0..1, das Omega von HT-REG, ein Faktor auf den Gewinn von Merkmalen, die auf dem Weg noch nicht vorkommen; 1: keine Regularisierung",
  "HAT: subtrees that get worse are replaced, and leaves that do start over; with regularization, HAT-REG":
    "HAT: Teilbäume, die schlechter werden, werden ersetzt, und solche Blätter beginnen von vorn; mit Regularisierung HAT-REG",
  '"mc" (majority class), "nb" (naive Bayes) or "nba" (the better of the two)':
    "„mc“ (häufigste Klasse), „nb“ (naiver Bayes) oder „nba“ (das bessere von beiden)",
  "OLBoost: leaves predict from separate statistics, in which a sample counts the more, the less its class was expected":
    "OLBoost: Blätter sagen aus einer eigenen Statistik vorher, in der ein Beispiel umso mehr zählt, je weniger seine Klasse erwartet wurde",
  "0..16, how often `boost` counts a sample, on average, if the leaf was certain of its class":
    "0..16, wie oft `boost` ein Beispiel im Mittel zählt, dessen Klasse für das Blatt sicher war",
  "lambda_min..16, how often `boost` counts a sample whose class was ruled out":
    "lambda_min..16, wie oft `boost` ein Beispiel zählt, dessen Klasse ausgeschlossen schien",
  "2..255, bins in the histogram of a feature": "2..255, Fächer im Histogramm eines Merkmals",
  "0..2**30 - 1, seed of the boosting's random numbers": "0..2**30 - 1, Startwert der Zufallszahlen des Boostings",
  "1/256..1/4, step size of the gradient descent, rounded to 1/256":
    "1/256..1/4, Schrittweite des Gradientenabstiegs, auf 1/256 gerundet",
  "1..4096, recent samples that are kept; 0: as many as fit into 16 KB, up to 1024":
    "1..4096, so viele der letzten Beispiele werden behalten; 0: so viele, wie in 16 KB passen, bis zu 1024",
  "1..15, neighbours that vote": "1..15, so viele Nachbarn stimmen ab",
  "8..16383, recent samples that each tree is grown on; 0: as many as fit into 16 KB beside 8 trees, from 32 up to 512":
    "8..16383, die letzten Beispiele, an denen ein Baum wächst; 0: so viele, wie neben 8 Bäumen in 16 KB passen, 32 bis 512",
  "1..255, the most trees that vote; 0: as many as fit into 16 KB, from 2 up to 32":
    "1..255, so viele Bäume stimmen höchstens ab; 0: so viele, wie in 16 KB passen, 2 bis 32",
  "2..2048, the most leaves of a tree": "2..2048, so viele Blätter hat ein Baum höchstens",
  "1..255: a tree starts to grow every N samples, and has N samples to finish; the ring holds N samples more than the window":
    "1..255: nach so vielen Beispielen beginnt ein Baum zu wachsen, und so viele hat er Zeit; der Ringpuffer hält ebenso viele mehr als das Fenster",
  "0..features, features tried for each split; 0: 1.5 times the square root of their number, plus one":
    "0..Zahl der Merkmale: so viele werden für jede Teilung geprüft; 0: das 1,5-Fache der Wurzel ihrer Zahl, plus eins",
};
