"""Nothing is learnt from small talk in any language that is read: thirty turns each, with orders to other people."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from support.talk import Talk

GERMAN = """\
Na, wie war dein Wochenende? Meins war total verregnet.
Ich habe ja keine Wochenenden, aber erzähl gern, was du trotz des Regens gemacht hast.
Wir wollten eigentlich wandern, aber meine Schwester vergisst immer ihre Stiefel.
Das klingt nach einer Geschichte mit Tradition.
Ja, ich sage ihr jedes Mal: Vergiss nie wieder deine Stiefel! Aber es hilft nichts.
Vielleicht hilft ein Zettel an der Tür.
Mein Opa meinte immer: Man soll den Tag nicht vor dem Abend loben.
Ein schöner Spruch, und er stimmt oft.
Denk daran, morgen ist Muttertag, hat mein Bruder mir geschrieben. Als ob ich das nicht wüsste.
Dann weißt du ja, was zu tun ist. Brauchst du Ideen für ein Geschenk?
Sie mag keine Blumen, sie will lieber etwas Selbstgemachtes.
Wie wäre es mit selbst gekochter Marmelade?
Nein, nicht Marmelade, Pralinen! Die isst sie immer zuerst.
Pralinen sind eine feine Idee. Dunkle Schokolade oder helle?
Immer dunkle. Helle Schokolade ist für Kinder, sagt sie.
Dann lass uns ein einfaches Rezept nehmen: Sahne, Kuvertüre, etwas Salz.
Beim letzten Mal ist mir die Sahne übergekocht. Ab jetzt passe ich besser auf.
Kleine Flamme und ständig rühren, dann klappt es.
Du musst unbedingt mal nach Freiburg kommen, würde meine Tante sagen, da gibt es die beste Konditorei.
Freiburg hat viele gute Cafés, ja.
Mein Chef will übrigens, dass wir ab Montag immer um acht da sind. Furchtbar.
Das ist früh. Ist das für alle so?
Für alle außer für ihn, natürlich. Niemals würde der vor zehn kommen.
Das wirkt ein wenig ungerecht.
Merk dir eins, hat er gesagt: Pünktlichkeit ist eine Zier.
Und wie hast du darauf geantwortet?
Gar nicht. Ich gehe solchen Sätzen aus dem Weg.
Manchmal ist Schweigen die beste Antwort.
So, ich muss los, die Bahn wartet nicht. Drück mir die Daumen für die Pralinen!
Viel Erfolg, und schöne Grüße an deine Mutter!
"""
CHINESE = """\
你好,今天北京的天气真不错。
是啊,适合出去走走。你有什么计划吗?
我本来想去爬山,可是我老婆总是说太累。
可以选一条短一点的路线。
她从来不喜欢运动,永远只想在家看剧。
那看剧也不错,最近有什么好看的?
她说千万不要错过那个讲唐朝的剧。
听起来是历史剧,画面应该很美。
我妈昨天打电话说:记住,别吃太辣的东西。她每次都这样。
妈妈们总是担心孩子的身体。
不是辣的问题,是油的问题,我跟她解释过很多次。
那你平时做菜用什么油?
以后我都用橄榄油了,医生说必须少吃猪油。
橄榄油凉拌很合适。
我儿子不要吃青菜,每次都要哄半天。
可以把青菜切碎,包在饺子里。
对,饺子他最喜欢了,一定要蘸醋。
那周末可以全家一起包饺子。
我爸爸说包饺子不能用机器,必须用手。
手工包的口感确实更好。
邻居老王总是半夜唱歌,真让人受不了。
可以跟他好好说一说。
说过了,他答应以后不再唱,结果昨天又唱了。
也许可以找物业帮忙。
请你不要生气,这是他昨天写给我的纸条。
看来他也有点不好意思。
算了,下次再说吧。我们公司规定每天都要写日报,烦死了。
写日报可以简短一点,抓重点就行。
老板说绝对不能迟到,从现在开始迟到一次罚一百。
那明天早点出门吧,祝你一切顺利!
"""
SPANISH = """\
¡Hola! ¿Qué tal? Aquí hace un calor terrible.
¡Hola! Un buen momento para un helado, entonces.
Mi abuela siempre dice que el helado no quita la sed.
Tiene algo de razón, pero refresca.
Nunca le lleves la contraria a mi abuela, es un consejo de familia.
Tomo nota de su carácter. ¿Vive cerca de ti?
Vive en Cádiz y nunca quiere venir a Madrid. Prefiere el mar.
Se entiende muy bien.
Acuérdate de llamar a tu tío, me escribió ayer. Y se me olvidó, claro.
Todavía puedes llamarle hoy.
No, no es mi tío de verdad, es un amigo de mi padre.
Ah, entendido. Entonces un tío de cariño.
Siempre me regalaba libros de aventuras por Navidad.
Qué buen recuerdo. ¿Tenías uno preferido?
El de la isla. A partir de ahora voy a leérselo a mi hija.
Seguro que le encantará.
Ella no quiere dormir nunca sin cuento. Hay que leer siempre dos.
Dos cuentos es un trato justo.
Mi marido dice que tenemos que ahorrar y no gastar más en libros.
La biblioteca pública puede ayudar.
¡Usa la biblioteca! Eso le digo yo también a todo el mundo.
Además suelen tener actividades para niños.
No me gusta el profesor nuevo, quiere que los niños escriban siempre a mano.
Hay estudios a favor y en contra de eso.
Debes escucharle, me dijo la directora. Pues nada.
Puede que con el tiempo cambie tu opinión.
Lo dudo. En mi casa jamás se cena antes de las diez, y él manda deberes.
Es difícil encajar los horarios.
Bueno, me voy a la playa. Recuerda que la vida es corta, como dice mi abuela.
¡Disfruta del mar y saluda a tu abuela!
"""
JAPANESE = """\
こんにちは、今日は本当に寒いですね。
こんにちは。暖かくしてお過ごしください。
母がいつも「マフラーを忘れないで」と言うんです。
お母さまは心配されているのですね。
でも私は絶対にマフラーをしません。首がかゆくなるので。
素材を変えると楽になるかもしれません。
今度から絹のものを使ってみようかな。
肌触りがよいと思います。
弟は必ず朝ごはんにカレーを食べるんですよ。
朝カレーは元気が出そうですね。
父は「食べ物を残してはいけない」とうるさいです。
昔からの教えですね。
いや、カレーじゃなくてハヤシライスでした。間違えました。
ハヤシライスも美味しいですね。
隣の犬が毎晩吠えるので、眠れません。
それはお困りですね。
管理人さんは「二度と吠えさせません」と約束したのに。
もう一度相談してみてはいかがでしょう。
会社では今日から必ず名札を付けてくださいと言われました。
新しい決まりができたのですね。
部長は常に名札を忘れるくせに、私たちには厳しいんです。
少し不公平に感じますね。
覚えておいて、と友達が言っていました。来週は花見だそうです。
楽しみですね。お弁当は作りますか。
卵焼きは甘くしないでほしい、と毎年頼まれます。
しょっぱい卵焼きも美味しいです。
私は甘いほうが好きなんですけどね。
二種類作るという手もあります。
それはいい考えですね。ではまた明日話しましょう。
はい、よい一日をお過ごしください。
"""
FRENCH = """\
Salut ! Tu sais quoi ? Mon train a encore eu deux heures de retard.
Oh non, c'est pénible. Tu as pu t'asseoir au moins ?
Non, il ne faut jamais prendre le train de 18 heures, tout le monde le sait.
Je comprends, l'heure de pointe est difficile.
Ma collègue me répète toujours : prends plutôt le bus.
Le bus est parfois plus tranquille.
Pas le bus, le tramway ! Le bus est toujours en grève chez nous.
D'accord, le tramway alors.
Mon fils veut absolument un chien. Je lui dis non tous les jours.
Un chien demande beaucoup de temps.
N'oublie pas les croquettes, me disait déjà ma mère quand j'étais petite. On avait trois chats.
Trois chats, quelle animation !
À partir de maintenant, je ne veux plus d'animaux, j'ai donné.
Cela se comprend.
Mon mari préfère les oiseaux. Il faut toujours qu'il les nourrisse avant de manger.
C'est une belle habitude.
Souviens-toi de l'hiver dernier, m'a-t-il dit hier, la mésange est revenue.
Les mésanges reviennent souvent au même endroit.
On ne doit jamais leur donner de pain, paraît-il.
En effet, les graines sont meilleures pour elles.
Ma voisine utilise toujours du beurre salé, même dans les gâteaux.
C'est très breton !
Elle m'a dit : utilise du beurre salé et arrête avec la margarine. Quelle autorité !
Elle a l'air d'avoir des convictions.
Je voudrais bien savoir cuisiner comme elle.
Avec de la pratique, cela viendra.
Mon patron exige que nous répondions toujours aux clients en moins d'une heure.
C'est un rythme soutenu.
Enfin bref. Ne t'inquiète pas, je survivrai jusqu'aux vacances !
Bon courage et à bientôt !
"""
ENGLISH = """\
Morning! I just got back from the gym and my legs are gone.
Leg day, I take it? Well done for going.
My trainer says never skip stretching, and I always skip stretching.
A few minutes afterwards would already help.
She keeps telling me: don't lock your knees, use your hips. Every single time.
That is common advice for squats.
Anyway, my roommate wants me to always do the dishes before ten.
Is that a fair deal between you two?
No, he never cooks. From now on I'm making him cook on Sundays.
Sounds like a reasonable plan.
Remember that pasta place on Fifth? It closed.
I don't have memories of it, but that's a pity.
It wasn't Fifth actually, it was Sixth. Make sure you never trust my sense of direction, ha.
Noted, with a smile.
My mom prefers that place over anything. She must have told me a hundred times.
Perhaps she would enjoy finding a new favourite.
She told me, please stop sending me links, just call. So I call.
Calling is often nicer.
We should never have sold the old car, by the way. It always started.
Old cars can be wonderfully simple.
My dad insisted that we use only premium gas. Always premium, never regular.
Some engines do need it.
I'd rather walk than drive these days, honestly.
Walking is good for the mood too.
Don't tell anyone, but I'm thinking of quitting my job.
Your secret is safe. What is on your mind?
My boss said we need to use more buzzwords and avoid plain English. I can't even.
That would test anyone's patience.
The rule at our office is: no jokes before coffee. Okay, I have to run!
Have a good day, and enjoy the coffee!
"""


@pytest.mark.parametrize("talk", [GERMAN, CHINESE, SPANISH, JAPANESE, FRENCH, ENGLISH])
def test_small_talk_leaves_nothing(talk: str) -> None:
    """Thirty turns about family, work and weather give no candidates."""
    lines = talk.strip().split("\n")
    thread = Talk()
    for number, line in enumerate(lines):
        thread = thread.agent(line) if number % 2 else thread.user(line)
    assert len(lines) == 30
    assert Extractive().candidates(thread.messages, unsure=True) == ()
