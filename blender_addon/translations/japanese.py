"""日本語。The interface in Japanese: by Blender's context, then by the English text.

The words are those of Blender's own Japanese interface. {…} stands for a value and stays as it is. A tooltip has no
full stop at its end: Blender adds one.
"""

OPERATORS = {
    "Manual": "マニュアル",
    "Patch Sylpheed Navigation": "Sylpheed ナビゲーションを修正",
    "Show Sylpheed Navigation": "Sylpheed ナビゲーションを表示",
    "Rebuild Sylpheed Navigation": "Sylpheed ナビゲーションを再構築",
    "Show or Hide": "表示／非表示",
    "Patch": "修正",
    "Rebuild": "再構築",
    "Lay Out Sylpheed Set": "Sylpheed 当たり判定セットを並べる",
    "Mark Sylpheed Parts as Assets": "Sylpheed のパーツをアセットにする",
    "Mark as Assets": "アセットにする",
    "Deploy": "配置",
    "Deploy Sylpheed Mod": "Sylpheed Modを配置",
    "Restore Originals": "元に戻す",
    "Restore Sylpheed Originals": "Sylpheed の元ファイルを復元",
    "Fix All": "すべて修正",
    "Fix All Sylpheed Problems": "Sylpheed の問題をすべて修正",
    "Revert to Sylpheed Source": "Sylpheed のソースに戻す",
    "Add to Hull": "当たり判定メッシュに追加",
    "Add to Sylpheed Hull": "Sylpheed 当たり判定メッシュに追加",
    "Copy": "コピー",
    "Copy Sylpheed Messages": "Sylpheed のメッセージをコピー",
    "Export Mod…": "Modをエクスポート…",
    "Import Stage…": "ステージをインポート…",
    "Open Folder": "フォルダーを開く",
    "Select Sylpheed Object": "Sylpheed のオブジェクトを選択",
    "Subtract from Rock": "岩から切り抜く",
    "Subtract from Sylpheed Rock": "Sylpheed の岩から切り抜く",
    # Menus
    "Sylpheed Stage (Game Folder)…": "Sylpheed ステージ（ゲームフォルダー）…",
    "Sylpheed Hull (.col)": "Sylpheed 当たり判定メッシュ (.col)",
    "Sylpheed Collision Set (.bin)": "Sylpheed 当たり判定セット (.bin)",
    "Sylpheed Mod (MiscBin.pak)…": "Sylpheed Modフォルダー (MiscBin.pak)…",
    "Sylpheed Hull…": "Sylpheed 当たり判定メッシュ…",
    "Sylpheed Asteroid": "Sylpheed 小惑星",
    # Operators
    "Import Sylpheed Stage": "Sylpheed ステージをインポート",
    "Import Sylpheed Hull": "Sylpheed 当たり判定メッシュをインポート",
    "Import Sylpheed Collision Set": "Sylpheed 当たり判定セットをインポート",
    "Export Sylpheed Mod": "Sylpheed Modをエクスポート",
    "Export Sylpheed Hull": "Sylpheed 当たり判定メッシュをエクスポート",
    "Export Sylpheed Collision Set": "Sylpheed 当たり判定セットをエクスポート",
    "Check Sylpheed Hulls": "Sylpheed 当たり判定をチェック",
    "Select Sylpheed Problem": "Sylpheed の問題箇所を選択",
    "Triangulate Sylpheed Faces": "Sylpheed の面を三角化",
    "Merge Sylpheed Vertices by Distance": "Sylpheed の頂点を距離でマージ",
    "Fix Sylpheed Zero-Area Faces": "Sylpheed の面積0の面を修正",
    "Fill Sylpheed Holes": "Sylpheed の穴をフィル",
    "Flip Sylpheed Faces": "Sylpheed の面を反転",
    "Delete Unused Sylpheed Vertices": "Sylpheed の未使用の頂点を削除",
    "Delete Doubled Sylpheed Faces": "Sylpheed の重複した面を削除",
    "Move Sylpheed Cutters out of the Hull": "Sylpheed のカッターをメッシュから外す",
    "Make Sylpheed Cell Boxes Part of the Hull": "Sylpheed のセルの箱をメッシュに含める",
    "Add Sylpheed Asteroid": "Sylpheed 小惑星を追加",
    "New Sylpheed Hull": "Sylpheed 当たり判定メッシュを新規作成",
    "Fit Sylpheed Grid": "Sylpheed グリッドを合わせる",
    "Show Sylpheed Grid": "Sylpheed グリッドを表示",
    "Refresh Sylpheed Grid": "Sylpheed グリッドを更新",
    "Shoot at Sylpheed Hull": "Sylpheed 当たり判定を試し撃ち",
    # Buttons
    "Check": "チェック",
    "Check Again": "再チェック",
    "Check All": "すべてチェック",
    "Select": "選択",
    "Fix": "修正",
    "Show Grid": "グリッドを表示",
    "List Changes": "変更を一覧表示",
    "List Sylpheed Changes": "Sylpheed の変更を一覧表示",
    "Show Changes": "変更を表示",
    "Show Sylpheed Changes": "Sylpheed の変更を表示",
    "Revert Object": "オブジェクトを元に戻す",
    "Revert All": "すべて元に戻す",
    "Refresh": "更新",
    "Route through Sylpheed Hull": "Sylpheed 当たり判定メッシュの経路",
    "Route from 3D Cursor to Active Object": "3Dカーソルからアクティブオブジェクトへの経路",
    "Pick in View": "ビューで指定",
    "Cursor to Active Object": "カーソルからアクティブオブジェクトへ",
    "Hide Grid": "グリッドを隠す",
    "Shoot": "試し撃ち",
    "Add Asteroid": "小惑星を追加",
    "New Hull…": "当たり判定メッシュを新規作成…",
    "Fit Grid…": "グリッドを合わせる…",
    "Fit Sylpheed Grid…": "Sylpheed グリッドを合わせる…",
}

TEXTS = {
    # Navigation
    "Patch the navigation volume for the edit. It is kept with the root, and exports write it": (
        "ナビゲーションを編集に合わせて修正します。ルートに保存され、エクスポートで書き出されます"
    ),
    "Show or hide the links by which computer-flown ships find their way, colored by how large a ship fits, and as "
    "an object of edges in a collection that is excluded at first": (
        "コンピューターの機体が飛ぶ経路のリンクを、通れる機体の大きさで色分けして表示／非表示にします。"
        "辺だけのオブジェクトも、最初は除外されたコレクションに作ります"
    ),
    "Divide the free space of the hull again, from the hull alone. This takes seconds. Esc cancels": (
        "当たり判定メッシュだけから、空間を分割し直します。数秒かかります。Esc で中止します"
    ),
    "Rebuilding the navigation. Esc: cancel": "ナビゲーションを再構築中。Esc: 中止",
    "Canceled. The navigation is as it was": "中止しました。ナビゲーションは元のままです",
    'Patched the navigation of "{name}"': "「{name}」のナビゲーションを修正しました",
    'Rebuilt the navigation of "{name}": {count:,} bytes': (
        "「{name}」のナビゲーションを再構築しました: {count:,} バイト"
    ),
    "Links: {count:,}, closed: {closed:,}": "リンク: {count:,}、通れないもの: {closed:,}",
    "Older than the edit": "編集より古い状態です",
    "Navigation out of Date": "古いナビゲーション",
    "Links through Rock": "岩を通るリンク",
    "Closed links": "通れないリンク",
    "Narrow links": "狭いリンク",
    "Wide links": "広いリンク",
    # Collision sets
    "Collision Set": "当たり判定セット",
    "Layout": "配置",
    "Rows": "列",
    "As in the File": "ファイルのまま",
    "In rows by family, apart from each other": "種類ごとの列に、互いに離して並べます",
    "Where the file has them: nearly all at one point": "ファイルの位置のまま（ほとんどが一点に重なります）",
    "Where the parts are shown": "パーツを表示する位置",
    "Where the parts of a collision set are shown. The exported coordinates stay the same": (
        "当たり判定セットのパーツを表示する位置。書き出される座標は変わりません"
    ),
    "Show the parts of the collision set in rows by family, or as in the file. What is exported stays the same": (
        "当たり判定セットのパーツを種類ごとの列に、またはファイルのまま表示します。書き出す内容は変わりません"
    ),
    "Mark as Assets": "アセットにする",
    "Make an asset of each part, to drag from the Asset Browser into a hull": (
        "各パーツをアセットにします。アセットブラウザーから当たり判定メッシュへドラッグできます"
    ),
    "Make an asset of each selected part, or of all parts of the set, to drag from the Asset Browser into a hull": (
        "選択したパーツ、またはセットのすべてのパーツをアセットにします。"
        "アセットブラウザーから当たり判定メッシュへドラッグできます"
    ),
    "Clear": "消去",
    "Delete the assets of these parts instead": "代わりに、これらのパーツのアセットを削除します",
    "Assets made: {count:,}": "作成したアセット: {count:,}",
    "Assets deleted: {count:,}": "削除したアセット: {count:,}",
    "Add to Hull": "当たり判定メッシュに追加",
    'Added "{name}" to "{hull}"': "「{name}」を「{hull}」に追加しました",
    "All Parts": "すべてのパーツ",
    "Tick every name in the list, or none": "一覧の名前すべてにチェックを付けるか、外します",
    "Import this part": "このパーツをインポートします",
    "Navigation": "ナビゲーション",
    "What becomes of the navigation volumes beside edited hulls, which lead computer-flown ships": (
        "編集した当たり判定メッシュのナビゲーションボリューム（コンピューターの艦船の経路）をどうするか"
    ),
    "Patch": "パッチ",
    "Change what the edit reaches": "編集が及ぶところだけを変更",
    "Keep": "維持",
    "Leave them as they are: ships may fly through new rock": (
        "そのまま残す（艦船が新しい岩を通り抜けることがあります）"
    ),
    "Divide the free space again. This takes seconds for each hull": "自由空間を分割し直す（1つにつき数秒かかります）",
    "Where to take what the mod folder holds too": "Modフォルダーにもあるものをどこから読み込むか",
    "From the mod folder, as an earlier export left it": "Modフォルダーから（以前のエクスポートの結果）",
    "From the game, without any edit": "ゲームから（未編集）",
    " (in the mod)": "（Modにあり）",
    "View": "表示",
    "Copy the mod's files to the play folder. The files that they replace are backed up once as .orig": (
        "Modのファイルをプレイフォルダーにコピー。置き換えられるファイルは一度だけ .orig として保存"
    ),
    "Restore the original files of the play folder": "プレイフォルダーの元のファイルを復元",
    "Choose the play folder in the preferences": "プリファレンスでプレイフォルダーを選んでください",
    "Deployed to {path}. Copied files: {count:,}, originals kept: {kept:,}": (
        "{path} に配置しました。コピーしたファイル: {count:,}、保存した元のファイル: {kept:,}"
    ),
    "Restored the originals in {path}. Files: {count:,}": "{path} の元のファイルを復元しました。ファイル数: {count:,}",
    "Fix all errors and warnings that can be fixed safely": "安全に修正できるエラーと警告をすべて修正",
    'Fixed {count:,} in "{name}"': "「{name}」で {count:,} 個修正しました",
    "Revert the active object, or the whole hull or collision set, to its source file": (
        "アクティブなオブジェクト、または当たり判定メッシュ・セット全体を、ソースファイルの状態に戻す"
    ),
    "Whole": "全体",
    "Everything parented to the root: deleted surfaces come back, new objects are deleted": (
        "ルートの子すべて（削除した面は復活し、新しいオブジェクトは削除されます）"
    ),
    '"{name}": {reverted:,} reverted, {made:,} restored, {deleted:,} deleted': (
        "「{name}」: {reverted:,} 個を復元、{made:,} 個を再作成、{deleted:,} 個を削除"
    ),
    'Reverted "{name}" to its source': "「{name}」をソースに戻しました",
    "Play Folder": "プレイフォルダー",
    "Copy of the game that the emulator runs. Only Deploy and Restore write to it": (
        "エミュレーターが実行するゲームのコピー（書き込むのは配置と復元だけです）"
    ),
    "Holds the mod": "Modを配置済み",
    # The first panel, the last result
    '"{name}" isn\'t in this view layer': "「{name}」はこのビューレイヤーにありません",
    "Can't be exported": "エクスポートできません",
    "Check": "チェック",
    "Copy all lines to the clipboard": "すべての行をクリップボードにコピー",
    "Cut the shape of the other selected objects out of the active rock, and hide them": (
        "選択した他のオブジェクトの形をアクティブな岩から切り抜き、それらを隠す"
    ),
    "Edited since the check": "チェック後に編集済み",
    "Still empty": "まだ空です",
    "Holds a mod": "Modがあります",
    "In the mod folder": "Modフォルダーに出力済み",
    "Last Result": "直前の結果",
    "Make the selected objects part of the hull. They stay where they are": (
        "選択したオブジェクトを当たり判定メッシュに含める（位置はそのまま）"
    ),
    "No hidden folder in it": "hidden フォルダーがありません",
    "No stage tables in it": "ステージテーブルがありません",
    "No such folder": "フォルダーがありません",
    "Not a game folder": "ゲームフォルダーではありません",
    "Not checked": "未チェック",
    "Not chosen": "未設定",
    "Overview": "概要",
    "Select the object that this line names and bring it into view": "この行が示すオブジェクトを選択して表示",
    "The scene has no hull yet": "シーンにまだ当たり判定メッシュがありません",
    "Unedited": "未編集",
    "and {count:,} more": "他 {count:,} 件",
    '{count:,} added to "{name}"': "{count:,} 個を「{name}」に追加しました",
    '{count:,} cut out of "{name}"': "{count:,} 個で「{name}」を切り抜きました",
    "Stages: {count}": "ステージ: {count}",
    # Import
    "Import the hull of a stage's phase from the extracted game, with the stage's own asteroids": (
        "展開したゲームから、ステージの1フェーズの当たり判定メッシュを、そのステージ専用の小惑星と共にインポートします"
    ),
    "Import collision hulls of Project Sylpheed, with their grid cells": (
        "プロジェクト シルフィードの当たり判定メッシュを、グリッドのセルと共にインポートします"
    ),
    "Import the collision parts of ships, machines and asteroids from a collision set of Project Sylpheed": (
        "プロジェクト シルフィードの当たり判定セットから、艦船・機体・小惑星のパーツをインポートします"
    ),
    "Sylpheed Hull": "Sylpheed 当たり判定メッシュ",
    "Sylpheed Collision Set": "Sylpheed 当たり判定セット",
    "Surfaces": "サーフェス",
    "How the hull's closed surfaces become objects": "閉じたサーフェスを、どのようにオブジェクトにするか",
    "Separate": "分離",
    "One object for the wall and for each asteroid": "壁と小惑星をそれぞれ1つのオブジェクトにします",
    "Joined": "統合",
    "One object for the whole hull": "全体を1つのオブジェクトにします",
    "Cells": "セル",
    "Show the grid cells that hold triangles. They are never exported": (
        "三角形面を含むグリッドのセルを表示します。エクスポートはされません"
    ),
    "Objects": "オブジェクト",
    "A wire box for each cell, in a collection that is excluded at first": (
        "セルごとのワイヤーのボックスを、専用のコレクション（最初は除外）に作ります"
    ),
    "None": "なし",
    "No cells": "セルを作りません",
    "Bounding Spheres": "境界球",
    "Show the sphere that the game tests before each cell's triangles. It is never exported": (
        "ゲームが各セルの三角形面より先に調べる球を表示します。エクスポートはされません"
    ),
    "Scale": "スケール",
    "Blender units per game unit. It is set on the root object and doesn't change the exported coordinates": (
        "ゲームの1単位あたりの Blender の単位。ルートオブジェクトに設定され、エクスポートする座標には影響しません"
    ),
    "Up": "上",
    "Axis of the file that points up in Blender": "Blender の上方向にするファイルの軸",
    "The file's Y axis points up, as in the games of this engine": (
        "ファイルの Y 軸を上にします。このエンジンのゲームと同じです"
    ),
    "The file's axes are Blender's axes": "ファイルの軸をそのまま Blender の軸とします",
    "Mirror": "ミラー",
    "Show a mirror image along X, for comparing with a left-handed view": (
        "X 方向の鏡像を表示します。左手系の表示との比較用です"
    ),
    "Clip Distance": "クリップ距離",
    "Extend the 3D views' clip distance to cover the imported map. It is never shortened": (
        "インポートしたマップ全体が見えるよう、3Dビューのクリップ距離を広げます。狭めることはありません"
    ),
    "Names": "名前",
    "Parts to import: names with * and ?, separated by commas. The other parts stay in the file": (
        "インポートするパーツ。* と ? を使った名前をカンマで区切ります。他のパーツはファイルに残ります"
    ),
    "Game Folder": "ゲームフォルダー",
    "Folder of the extracted game disc. Empty: the one in the preferences. Nothing is ever written to it": (
        "ゲームディスクを展開したフォルダー。空ならプリファレンスのもの。書き換えられることはありません"
    ),
    "Stage": "ステージ",
    "Stage to import, such as S14, or the ID of its table where its name isn't known": (
        "インポートするステージ。S14 など。名前が不明な場合はテーブルの ID"
    ),
    "Phase of the stage, such as Phase_1. Phases without a hull aren't listed": (
        "ステージのフェーズ名。Phase_1 など。当たり判定メッシュのないものは一覧にありません"
    ),
    "No game folder is chosen": "ゲームフォルダーが選択されていません",
    "There is no such folder": "フォルダーが見つかりません",
    "This isn't a game folder": "ゲームフォルダーではありません",
    "This game folder holds no stage tables": "このゲームフォルダーにはステージテーブルがありません",
    "The game has no stage of this name": "この名前のステージはありません",
    "The table of this stage is damaged": "このステージのテーブルは破損しています",
    "No phase of this stage has a hull": "このステージには当たり判定メッシュのあるフェーズがありません",
    "Parts": "パーツ",
    "Parts of the stage's collision set to import as well": (
        "合わせてインポートする、ステージの当たり判定セットのパーツ"
    ),
    "Only the hull": "当たり判定メッシュのみ",
    "The stage's own asteroids": "ステージ専用の小惑星",
    "All": "すべて",
    "Every part of the collision set": "当たり判定セットのすべてのパーツ",
    # Export
    "Write hidden/MiscBin.pak with the edited hulls and collision sets of all scenes to the mod folder": (
        "すべてのシーンで編集した当たり判定メッシュと当たり判定セットを含む hidden/MiscBin.pak を、"
        "Mod フォルダーに書き出します"
    ),
    "Export a collision hull for Project Sylpheed: everything parented to its root, including hidden objects": (
        "プロジェクト シルフィードの当たり判定メッシュをエクスポートします。ルートの子が、非表示のものも含めて対象です"
    ),
    "Export a collision set for Project Sylpheed: edited parts are replaced, the others are preserved": (
        "プロジェクト シルフィードの当たり判定セットをエクスポートします。"
        "編集したパーツを置き換え、他はそのまま残します"
    ),
    "File Path": "ファイルパス",
    "File to write": "書き出すファイル",
    "Hull": "当たり判定メッシュ",
    "Root object of the hull. Empty: the one of the active object, or the only one": (
        "当たり判定メッシュのルートオブジェクト。空なら、アクティブオブジェクトのもの、または唯一のもの"
    ),
    "Set": "当たり判定セット",
    "Root object of the collision set. Empty: the one of the active object, or the only one": (
        "当たり判定セットのルートオブジェクト。空なら、アクティブオブジェクトのもの、または唯一のもの"
    ),
    "Rebuild": "再構築",
    "How much of the source file to rebuild": "元のファイルをどこまで再構築するか",
    "Changed": "変更",
    "Preserve every cell, sphere and byte that the edit doesn't reach": (
        "編集が及ばないセル・球・データを、すべて元のまま保ちます"
    ),
    "Rebuild every cell list, sphere and fill state": "セルのリスト・球・充填状態をすべて再構築します",
    "How to handle geometry outside the hull's bounding box": "バウンディングボックスの外にある形状の扱い",
    "Stop the export and name the objects": "エクスポートを中止し、オブジェクト名を知らせます",
    "Add whole cells to the grid. The matching .rgn no longer fits and must be regenerated": (
        "グリッドをセル単位で広げます。対応する .rgn は合わなくなり、再生成が必要です"
    ),
    "Turn": "面の向きを直す",
    "Flip faces whose front doesn't face free space, instead of refusing them": (
        "表側が空間を向いていない面を、エラーにせず反転します"
    ),
    "Apply Modifiers": "モディファイアーを適用",
    "Export meshes with their modifiers and shape keys applied": (
        "モディファイアーとシェイプキーを適用した形でメッシュをエクスポートします"
    ),
    "Mod Folder": "Mod フォルダー",
    "Folder for the modded archive, in the layout of the disc. Empty: the one in the preferences": (
        "Mod のアーカイブを、ディスクと同じ構成で書き出すフォルダー。空ならプリファレンスのもの"
    ),
    "Game that supplies everything else. Empty: the one that was imported from, or the one in "
    "the preferences. Nothing is ever written to it": (
        "その他のデータの元になるゲーム。空ならインポート元、またはプリファレンスのもの。書き換えられることはありません"
    ),
    "Collision Sets": "当たり判定セット",
    "Copies that an edited collision set replaces. The game holds 18 of them": (
        "編集した当たり判定セットで置き換えるもの。ゲームには同じセットが18個あります"
    ),
    "Every copy, so that all stay the same": "すべて。ゲーム本来の状態と同じく内容が揃います",
    "Only the copy that was imported": "インポートしたものだけ",
    "Overwrite": "上書き",
    "Replace what another session wrote to the mod, where it is edited here as well": (
        "別の作業で Mod に入れられたものも、ここで編集されていれば置き換えます"
    ),
    # Preferences
    "Folder of the extracted game disc, which contains dat and hidden. Nothing is ever written to it": (
        "ゲームディスクを展開した、dat と hidden を含むフォルダー。書き換えられることはありません"
    ),
    "Folder for mods, in the layout of the disc. Imports prefer its files to the game's. A .blend that was exported "
    "to another folder keeps to that": (
        "Mod をディスクと同じ構成で書き出す先。すでにあるものは、ゲームのものより優先してインポートされます。"
        "別のフォルダーに書き出した .blend は、そのフォルダーを使い続けます"
    ),
    # Checks
    "Check the hulls and collision sets of this scene as the export does. The sidebar shows the result": (
        "このシーンの当たり判定メッシュと当たり判定セットを、エクスポート時と同じようにチェックします。結果はサイドバーに表示されます"
    ),
    "Select the elements with this problem in Edit Mode, or the objects": (
        "この問題のある要素を編集モードで選択するか、オブジェクトを選択します"
    ),
    "Problem": "問題",
    "Kind of problem, such as open edges": "問題の種類。open edges など",
    "Severity": "重大度",
    "Limit to error, warning or info. Empty: all of them": ("error、warning、info のうち対象とするもの。空ならすべて"),
    "Root": "ルート",
    "Root object. Empty: the one of the active object": "ルートオブジェクト。空なら、アクティブオブジェクトのもの",
    "Cut faces with four or more corners into triangles": "四角以上の面を三角形面に分割します",
    "Merge vertices of an object that lie in one place": "1つのオブジェクト内で同じ位置にある頂点をマージします",
    "Merge corners that lie in one place, and flip the longest edge of the other zero-area faces": (
        "同じ位置にある角をマージし、その他の面積0の面では最も長い辺を反転します"
    ),
    "Fill the holes at open edges with triangles": "開いた辺の穴を三角形面で埋めます",
    "Flip faces so that their front faces free space": "表側が空間を向くように面を反転します",
    "Unparent objects that only cut others from the hull. They stay in place and keep cutting": (
        "他を切り抜くだけのオブジェクトをメッシュから外します。位置も切り抜きもそのままです"
    ),
    "Make the faces of cell boxes part of the hull, and delete the rest of the box": (
        "セルの箱の面をメッシュに含め、箱の残りを削除します"
    ),
    "Delete vertices and edges that belong to no face": "どの面にも属さない頂点と辺を削除します",
    "Delete faces that use the same vertices as another": "他の面と同じ頂点を使う面を削除します",
    "Select an object of a hull or collision set": "当たり判定のオブジェクトを選択してください",
    "Not checked yet": "まだチェックしていません",
    "Edited since the last check": "前回のチェック後に編集あり",
    "Can't be exported yet": "まだエクスポートできません",
    "No problems": "問題なし",
    "Can be exported": "エクスポートできます",
    "No Triangles": "三角形がない",
    "More Vertices than Triangles": "頂点が三角形より多い",
    "Over the Limits": "上限を超過",
    "Unusable Coordinates": "使用できない座標",
    "Zero-Area Faces": "面積のない面",
    "Open Edges": "開いた辺",
    "Non-Manifold Edges": "非多様体の辺",
    "Doubled Faces": "重複した面",
    "Open Surfaces": "閉じていないサーフェス",
    "Surfaces without Volume": "体積のないサーフェス",
    "Cutters in the Hull": "メッシュに入ったカッター",
    "Cell Boxes with Faces": "面のあるセルの箱",
    "Flipped Faces": "反転した面",
    "Inside-Out Surfaces": "表裏が逆のサーフェス",
    "No Free Space": "空間がない",
    "Buried Surfaces": "岩の中に埋もれたサーフェス",
    "Outside the Bounding Box": "バウンディングボックスの外側",
    "Missing Surfaces": "なくなったサーフェス",
    "Unused Vertices": "未使用の頂点",
    "Doubled Vertices": "重複した頂点",
    "Faces with Four or More Corners": "四角以上の面",
    "Self-Intersections": "自己交差",
    "Intersecting Surfaces": "交差するサーフェス",
    "Cells with Long Lists": "リストの長いセル",
    "Refused": "エクスポート不可",
    "Not Exported as Shown": "表示どおりに書き出されません",
    "Parts without Faces": "面のないパーツ",
    "Missing Parts": "なくなったパーツ",
    "The scene has no hull or collision set": "シーンに当たり判定メッシュも当たり判定セットもありません",
    "{name}: the problem no longer exists": "{name}: この問題はもうありません",
    "Can't be selected in {names}: linked, not selectable, not in this view layer, or not "
    "part of the object's own mesh": (
        "{names} では選択できません: リンクされているか、選択不可になっているか、このビューレイヤーにないか、"
        "オブジェクト自身のメッシュではありません"
    ),
    "{name}: nothing to fix": "{name}: 修正するものはありません",
    "Fixed {count:,} in {names}": "{count:,} 箇所を修正しました: {names}",
    "shows faces that aren't its own: apply its modifiers first": (
        "に表示されている面は自身のものではありません: 先にモディファイアーを適用してください"
    ),
    "is an instance of a collection: make it real first": (
        "はコレクションのインスタンスです: 先にインスタンスを実体化してください"
    ),
    "isn't a mesh: convert it to one first": "はメッシュではありません: 先にメッシュに変換してください",
    "can't be fixed automatically. Select it and fix it by hand": (
        "は自動では修正できません。選択して手作業で修正してください"
    ),
    "has a hole that can't be filled automatically. Select its edges and fill it by hand (F)": (
        "に自動では埋められない穴があります。辺を選択して手作業で埋めてください (F)"
    ),
    "has vertices in one place: merge them first": "に同じ位置の頂点があります: 先にマージしてください",
    "is linked from a library: make it local first": "はライブラリからリンクされています: 先にローカル化してください",
    "shares its mesh with another object: make it a single user first": (
        "は他のオブジェクトとメッシュを共有しています: 先にシングルユーザー化してください"
    ),
    "is in another mode: switch to Object Mode or Edit Mode first": (
        "は別のモードです: 先にオブジェクトモードか編集モードにしてください"
    ),
    # Counts and changes
    "Counts and Changes": "数量と変更点",
    "Source": "ソース",
    "{name}, {count:,} bytes": "{name}, {count:,} バイト",
    "Vertices": "頂点",
    "Triangles": "三角形面",
    "Cell Size": "セルサイズ",
    "Triangles, compared with the source:": "三角形面（ソースとの比較）:",
    "Unchanged": "変更なし",
    "Moved": "移動",
    "Added": "追加",
    "Removed": "削除",
    "Rebuilt Cells": "再構築したセル",
    "Edited": "編集済み",
    # Grid
    "Grid": "グリッド",
    "Show or hide the grid of the active hull in the 3D views: the cells in which the game looks for triangles": (
        "アクティブな当たり判定メッシュのグリッドを3Dビューに表示、または非表示にします。ゲームはこのセルで三角形面を探します"
    ),
    "Show the grid as the hull would be exported now": "今エクスポートした場合のグリッドを表示します",
    "The grid isn't shown": "グリッドが表示されていません",
    "The cells that hold triangles, colored by how many they list": "三角形面を含むセル。色はその数を表します",
    "Rock": "岩",
    "The cells that lie wholly in rock": "完全に岩の中にあるセル",
    "Cell under the 3D Cursor": "3Dカーソルのセル",
    "The cell that the game looks up for the 3D cursor's place, and the triangles that it lists": (
        "3Dカーソルの位置でゲームが参照するセルと、そのリストにある三角形面"
    ),
    "The spheres that the game tests before the triangles: those of the faces selected in edit mode, or of the "
    "selected objects": (
        "ゲームが三角形面より先に調べる球。編集モードでは選択した面、それ以外では選択したオブジェクトのもの"
    ),
    "Follow Edits": "編集に追従",
    "Show the grid as it would be exported after each edit. Off: as it was when last refreshed": (
        "編集するたびに、エクスポートした場合のグリッドを表示します。オフなら、最後に更新した時のまま"
    ),
    "No hull is in the scene": "シーンに当たり判定メッシュがありません",
    "Shown as it last was, because now:": "以下の理由で前回のまま表示:",
    "{name}: {dimensions} cells": "{name}: {dimensions} セル",
    "of {sides} units": "セルの一辺 {sides}",
    "Cells with {first}–{last}: {count:,}": "{first}–{last} のセル: {count:,}",
    "Triangles in a cell": "セル内の三角形面",
    "At the 3D Cursor": "3Dカーソルの位置",
    "The root is scaled to nothing": "ルートのスケールが0です",
    "Solid here": "ここは岩の中",
    "Free here": "ここは空間",
    "Outside the grid": "グリッドの外側",
    "Cell ({x}, {y}, {z}), number {number:,}: {state}": "セル ({x}, {y}, {z})、番号 {number:,}: {state}",
    "free space": "空間",
    "holds triangles": "三角形面あり",
    "solid rock": "岩",
    "Triangles listed: {count:,}": "リスト内の三角形面: {count:,}",
    "Older than the last edit": "最後の編集より前の状態",
    "No cell holds triangles": "三角形面を含むセルはありません",
    "No cell lies wholly in rock": "完全に岩の中にあるセルはありません",
    "The 3D cursor is outside the grid": "3Dカーソルはグリッドの外側です",
    "Nothing of this hull is selected": "この当たり判定メッシュの選択がありません",
    "Cells in rock": "岩の中のセル",
    "The cursor's cell": "カーソルのセル",
    "Triangles in the cursor's cell": "カーソルのセル内の三角形面",
    "Bounding spheres": "境界球",
    "Cells visited": "通過セル",
    "Cells opened": "参照したセル",
    "Triangles tested": "判定した三角形面",
    "Path": "経路",
    "Hit triangle": "命中した三角形面",
    "Shot at the hull as it last was: {reason}": "前回の状態の当たり判定メッシュに試し撃ちしました: {reason}",
    # Shoot
    "Shoot": "試し撃ち",
    "Click into the view to send a ray, or a sphere of a ship's radius, through the game's query: which cells it "
    "visits, which triangles it tests, what it hits": (
        "ビューをクリックした方向へ、レイまたは機体の半径の球を飛ばし、ゲームの判定処理にかけます。通過するセル、調べる三角形面、当たるものが分かります"
    ),
    "Radius": "半径",
    "Radius of the sphere that Shoot sends, in game units. 0 sends a ray": (
        "試し撃ちで飛ばす球の半径（ゲームの単位）。0 ならレイを飛ばします"
    ),
    "Radius of the sphere, in game units. 0 sends a ray": "球の半径（ゲームの単位）。0 ならレイを飛ばします",
    "Start": "開始",
    "Where the shot begins, in the file's axes and game units": "始点。ファイルの軸とゲームの単位で指定します",
    "Movement": "移動",
    "From there to where it ends, in the file's axes and game units": (
        "始点から終点までの移動量。ファイルの軸とゲームの単位で指定します"
    ),
    "Left click: shoot. Esc or right click: end": "左クリック: 試し撃ち　Esc・右クリック: 終了",
    "Misses the grid: no cell is visited": "グリッドに入らず、通過セルなし",
    "Cells visited: {count:,} ({sides})": "通過セル: {count:,} ({sides})",
    "Holding triangles: {listed:,}, opened: {opened:,}": "三角形面あり: {listed:,}、参照: {opened:,}",
    "Triangles listed: {listed:,}, tested: {tested:,}": "三角形面: {listed:,}、判定: {tested:,}",
    "Hits nothing": "何にも当たりません",
    "Hits triangle {number:,} from its back": "三角形面 {number:,} の裏側に命中",
    "Hits triangle {number:,} from its front": "三角形面 {number:,} の表側に命中",
    "at ({x:,.0f}, {y:,.0f}, {z:,.0f})": "位置 ({x:,.0f}, {y:,.0f}, {z:,.0f})",
    "after {distance:,.0f} units (time {time:.4f})": "距離 {distance:,.0f}（時間 {time:.4f}）",
    # Route
    "Route": "経路",
    "Click two points in the view for the way that a computer-flown ship takes between them, before and after the "
    "edit, by the game's own search": (
        "ビューで2点をクリックすると、コンピューターの操縦する機体がその間を飛ぶ経路を、ゲームと同じ探索で編集の前と後について示します"
    ),
    "Show the way that a computer-flown ship takes from the 3D cursor to the origin of the active object": (
        "コンピューターの操縦する機体が、3Dカーソルからアクティブオブジェクトの原点まで飛ぶ経路を示します"
    ),
    "Where the ship is, in the file's axes and game units": "機体の位置。ファイルの軸とゲームの単位で指定します",
    "Goal": "目的地",
    "Where it flies to, in the file's axes and game units": "飛んでいく先。ファイルの軸とゲームの単位で指定します",
    "Ship Radius": "機体の半径",
    "Radius of the ship whose way Route shows, in game units. The game flies with 1": (
        "経路を示す機体の半径（ゲームの単位）。ゲームでは 1 です"
    ),
    "Radius of the ship, in game units. The game flies with 1": "機体の半径（ゲームの単位）。ゲームでは 1 です",
    "Left click: start, then goal. Esc or right click: end": "左クリック: 開始点、次に目的地　Esc・右クリック: 終了",
    "No object is active": "アクティブオブジェクトがありません",
    "The way is through the hull as it last was: {reason}": "前回の状態の当たり判定メッシュでの経路です: {reason}",
    "Before the edit: {way}": "編集前: {way}",
    "After the edit: {way}": "編集後: {way}",
    "no way, {reason}": "経路なし ({reason})",
    "a straight line of {length:,.0f} units": "直線 {length:,.0f}",
    "length {length:,.0f} units, legs: {legs:,}": "長さ {length:,.0f}、区間: {legs:,}",
    "Way before the edit": "編集前の経路",
    "Way after the edit": "編集後の経路",
    "Refused step": "通れない区間",
    # Changes
    "Changes": "変更",
    "The triangles that moved, are new or were cut away since the import, and the source's surface where it was": (
        "インポート後に移動、追加、または切り取られた三角形と、元の面のあった場所"
    ),
    "List what an export would change in the source file, surface by surface": (
        "エクスポートで元ファイルの何が変わるかを面ごとに一覧表示"
    ),
    "Show what differs from the source in the 3D views, with the source's surface where it was": (
        "元ファイルとの違いを、元の面のあった場所とともに3Dビューに表示"
    ),
    "Moved triangles": "移動した三角形",
    "New triangles": "新しい三角形",
    "Triangles cut away": "切り取られた三角形",
    "Where moved triangles were": "移動した三角形の元の位置",
    "Nothing differs from the source": "元ファイルと違いはありません",
    "Edited since this list": "この一覧の後に編集されています",
    'Changes in "{name}": {count:,}': "「{name}」の変更: {count:,} 件",
    '"{name}" is unedited': "「{name}」は未編集です",
    # Occurrences of a problem
    "Step": "移動",
    "Which occurrence to select: the next for 1, the previous for -1, all for 0": (
        "1は次の箇所だけ、-1は前の箇所だけ、0はすべてを選択"
    ),
    '{number:,} of {count:,}: "{name}"': "{count:,} 件中 {number:,} 件目: 「{name}」",
    "Restored what this mod doesn't change: {names}": "このModが変更しない {names} を元に戻しました",
    # Make
    "Create": "作成",
    "Fit": "合わせる",
    "Import": "インポート",
    "Export": "エクスポート",
    "Add a closed asteroid at the 3D cursor, to the hull of the active object or the only one": (
        "アクティブオブジェクトの（または唯一の）当たり判定メッシュに、閉じた小惑星を3Dカーソルの位置で追加します"
    ),
    "The scene has no hull: import one, or create one with New Hull": (
        "シーンに当たり判定メッシュがありません: インポートするか、新規作成してください"
    ),
    "Seed": "シード",
    "Random seed: each value gives a different asteroid": "乱数のシード。値ごとに異なる小惑星になります",
    "Size": "サイズ",
    "Largest diameter, in game units": "最大の直径（ゲームの単位）",
    "Roughness": "粗さ",
    "Depth of the valleys: 0 gives a ball": "谷の深さ。0 で球になります",
    "Maximum number of triangles. The game's own asteroids have about 50": (
        "三角形面の最大数。ゲーム本来の小惑星は50前後です"
    ),
    "Location": "位置",
    "Center in the file's axes, in game units. The default is the 3D cursor": (
        "中心の位置（ファイルの軸、ゲームの単位）。指定がなければ3Dカーソルの位置"
    ),
    "Create a collision hull from scratch. Add asteroids to it and export it like an imported one": (
        "当たり判定メッシュを一から作ります。小惑星を追加し、インポートしたものと同じようにエクスポートできます"
    ),
    "Name": "名前",
    "Name of the file, without .col": "ファイルの名前。.col は付けません",
    "Box": "ボックス",
    "Size of the map along the file's axes, in game units, around its origin. It is extended to whole cells": (
        "原点を中心とするマップの大きさ（ファイルの軸、ゲームの単位）。セル単位に切り上げられます"
    ),
    "Side length of the cells that the game sorts triangles into, in game units. The game's "
    "own maps have 10,000 or 50,000": (
        "ゲームが三角形面を振り分けるセルの一辺（ゲームの単位）。ゲーム本来のマップは 10,000 か 50,000 です"
    ),
    "Wall": "壁",
    "What surrounds the map": "マップの周囲をどうするか",
    "A wall along the box. Everything outside is solid": "ボックスに沿った壁を作ります。外側はすべて岩になります",
    "Free space. A hull needs a surface, so it starts with an asteroid in the middle": (
        "周囲は空間になります。サーフェスが必要なため、中央に小惑星が1つ作られます"
    ),
    "Show a wire box for each grid cell that holds triangles, in a collection that is excluded at first": (
        "三角形面を含むセルごとのワイヤーのボックスを、専用のコレクション（最初は除外）に作ります"
    ),
    "Fit the hull's box and grid to its geometry. Every cell list is rebuilt, and the matching .rgn no longer fits": (
        "形状を囲む最小のボックスとグリッドにします。セルのリストはすべて再構築され、対応する .rgn は合わなくなります"
    ),
    "The scene has no hull": "シーンに当たり判定メッシュがありません",
    "Side length of the cells, in game units. 0 keeps the current one": (
        "セルの一辺（ゲームの単位）。0 なら今のままです"
    ),
    "Margin": "余白",
    "Distance between the geometry and the box on each side, in game units": (
        "各方向で形状とボックスの間に空ける距離（ゲームの単位）"
    ),
    "Every cell list, sphere and fill state is rebuilt.": "セルのリスト・球・充填状態をすべて再構築します。",
    "The matching .rgn no longer fits and must be regenerated.": "対応する .rgn は合わなくなり、再生成が必要です。",
    "The grid already fits": "グリッドはすでに合っています",
    "Every cell list is rebuilt. The matching .rgn no longer fits and must be regenerated": (
        "セルのリストをすべて再構築しました。対応する .rgn は合わなくなり、再生成が必要です"
    ),
    "{name}: {count:,} triangles": "{name}: 三角形面 {count:,}",
    '"{name}" has its center in rock': "「{name}」の中心が岩の中にあります",
    '"{name}" reaches outside the hull\'s box. Move it inside or use Fit Grid': (
        "「{name}」がボックスの外に出ています。中に移動するか、「グリッドを合わせる」を使ってください"
    ),
    "{name}: the grid is now {now}, it was {before}": "{name}: グリッドを {before} から {now} に変更しました",
    "{dimensions} cells of {sides} from ({low}) to ({high})": (
        "{dimensions} セル（一辺 {sides}、範囲 ({low}) ～ ({high})）"
    ),
    # Messages of imports and exports
    "Extended the 3D views' clip distance to {distance:,.4g} to cover the map": (
        "マップ全体が見えるよう、3Dビューのクリップ距離を {distance:,.4g} に広げました"
    ),
    "Wrote {count:,} bytes to {path}": "{path} に {count:,} バイト書き出しました",
    "Wrote {path}. Replaced {names}": "{path} に書き出しました。置き換え: {names}",
    "Wrote nothing: {path} already holds every edit": (
        "何も書き出しませんでした: {path} にはすべての編集が既に含まれています"
    ),
    "Wrote nothing: nothing is edited, so the mod needs no archive": (
        "何も書き出しませんでした: 編集がないため、Mod にアーカイブは不要です"
    ),
    "Files to write:": "書き出すファイル:",
    "No file to write": "書き出すファイルはありません",
    "Not written:": "書き出さないもの:",
    "Options": "オプション",
    "Check first to list every file": "先にチェックしてください",
    '"{name}" is in the mod folder already': "「{name}」は既に Mod フォルダーにあります",
}

OURS = {
    "Outside": "外側",
    "Error": "エラー",
    "Grow": "拡張",
    "Phase": "フェーズ",
}
"""What Blender's own tables have in another sense, with the other choices of the same property."""

JAPANESE = {"Operator": OPERATORS, "*": TEXTS, "Sylpheed": OURS}
